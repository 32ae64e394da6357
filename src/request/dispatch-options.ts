/**
 * What a caller may ask of one request. Types only: the checks are where the request is built.
 */
import type { Readable } from 'node:stream'

/** A method of HTTP: any token, of which these are the usual ones. */
export type HttpMethod =
  | 'GET'
  | 'HEAD'
  | 'POST'
  | 'PUT'
  | 'PATCH'
  | 'DELETE'
  | 'OPTIONS'
  | 'TRACE'
  | 'CONNECT'
  | 'QUERY'
  // Without the intersection the names above would be lost, and with them what editors offer.
  | (string & Record<never, never>)

/** One header value; `undefined` skips the header, `null` sends it empty. */
export type HeaderValueInput =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly (string | number | bigint | boolean | null)[]

/**
 * Header fields in any accepted shape: an object, a flat list (name, value, name, value …), or an iterable of
 * pairs such as `Headers` or `Map`.
 */
export type HeadersInput =
  | Record<string, HeaderValueInput>
  | readonly HeaderValueInput[]
  | Iterable<readonly [string, HeaderValueInput]>
  | { readonly [Symbol.iterator]: () => Iterator<readonly [string, HeaderValueInput]> }

/** Any FormData implementation, known by its methods and its `Symbol.toStringTag`. */
export interface FormDataLike {
  /** As in FormData. */
  append(name: string, value: unknown, fileName?: string): void
  /** As in FormData. */
  delete(name: string): void
  /** As in FormData. */
  get(name: string): unknown
  /** As in FormData. */
  getAll(name: string): unknown[]
  /** As in FormData. */
  has(name: string): boolean
  /** As in FormData. */
  set(name: string, value: unknown, fileName?: string): void
  readonly [Symbol.toStringTag]: string
}

/** A request body in any accepted kind. */
export type BodyInput =
  | string
  | Uint8Array
  | ArrayBufferView
  | ArrayBuffer
  | Readable
  | NodeJS.ReadableStream
  | Blob
  | FormDataLike
  | URLSearchParams
  | Iterable<string | Uint8Array>
  | AsyncIterable<string | Uint8Array>

type Trailers = HeadersInput | null | undefined

/** Fields after the body, or a function that gives them when the body has ended. */
export type TrailersInput = HeadersInput | (() => Trailers | Promise<Trailers>)

/** What `dispatch()` may be asked for. */
export interface DispatchOptions {
  /** Where to send it. Only dispatchers that serve several origins look at it. */
  origin?: string | URL | undefined
  /** Sent as it is; starts with a slash, or is an absolute http(s) URL. */
  path: string
  /** Case-sensitive, sent as it is. */
  method: HttpMethod
  /** Checked before anything is sent; the case of names is kept over HTTP/1.1. */
  headers?: HeadersInput | null | undefined
  /**
   * Streams and iterables are read while they are sent. A function makes the body for each attempt, where
   * something sends the request again: only the retry interceptor and others like it take one.
   */
  body?: BodyInput | (() => BodyInput | null | undefined) | null | undefined
  /**
   * Fields after the body, or a function that gives them when the body has ended. Over HTTP/1.1 the body is
   * chunked then.
   */
  trailers?: TrailersInput | null | undefined
  /** Appended to a path that has neither `?` nor `#`. */
  // biome-ignore lint/suspicious/noExplicitAny: with `unknown` the interfaces of callers would not fit
  query?: Record<string, any> | null | undefined
  /** The protocol to switch to. Use `upgrade()` rather than setting this. */
  upgrade?: string | boolean | null | undefined
  /** May it be sent while another request runs, and again after a loss? Default: GET, HEAD and QUERY may. */
  idempotent?: boolean | null | undefined
  /**
   * Does it hold back the requests after it until its head has come? Default: those that are not idempotent
   * do.
   */
  blocking?: boolean | null | undefined
  /** `true` closes the connection after the response; `false` keeps it where it would be closed. */
  reset?: boolean | null | undefined
  /** Hold the body back until the server says 100, or a 2xx. Default: false. */
  expectContinue?: boolean | null | undefined
  /** Milliseconds after which a server that says nothing gets the body. Default: the client's. */
  expectContinueTimeout?: number | null | undefined
  /** Milliseconds for the complete response head; 0 is forever. Default: the client's. */
  headersTimeout?: number | null | undefined
  /** Milliseconds between two pieces of the response body; 0 is forever. Default: the client's. */
  bodyTimeout?: number | null | undefined
  /**
   * Milliseconds for which the source of the body may have nothing to send; 0 is forever. Default: the
   * client's.
   */
  requestBodyTimeout?: number | null | undefined
  /** TLS server name for this request. Default: from the `host` header, else the origin. */
  servername?: string | null | undefined
  /** IP type of service of the connection, 0–255, where the runtime can set it. */
  typeOfService?: number | null | undefined
  /** Options of the retry interceptor for this request. */
  retryOptions?: object | null | undefined
  /** For `interceptors.cookies`: false for a request without them, or the `CookieJar` of this request. */
  cookies?: boolean | object | null | undefined
  /** For `interceptors.dump`: the most bytes of body that are read for this request. */
  dumpMaxSize?: number | null | undefined
  /** For `interceptors.throttle`: a request with a higher number waits less; −10 to 10. Default: 0. */
  priority?: number | null | undefined
  /** For `interceptors.redirect`; a dispatcher without it accepts only `0`. */
  maxRedirections?: number | null | undefined
  /** For `interceptors.redirect`. */
  throwOnMaxRedirect?: boolean | null | undefined
  /** For `interceptors.redirect`. */
  stripHeadersOnRedirect?: readonly string[] | null | undefined
  /** For `interceptors.redirect`. */
  stripHeadersOnCrossOriginRedirect?: readonly string[] | '*' | null | undefined
}
