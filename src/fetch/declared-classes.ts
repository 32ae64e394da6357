/**
 * The classes of `fetch` as programs see them. A class with private fields would be a type of its own for the
 * compiler: the runtime's objects and undici's, which work wherever ours do, would not compile. These
 * declarations have none, and the implementations are checked against them.
 */
import type { Blob, File } from 'node:buffer'
import type { ReadableStream } from 'node:stream/web'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import type { FormDataLike } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { ReferrerPolicy } from './headers/referrer.ts'
import type { WebIterator } from './web-iterator.ts'

/** The values that `Headers` can be created from, in every implementation. */
export type HeadersInit = Headers | [string, string][] | Record<string, string | undefined>

/** More values that ours can be created from. */
export type HeadersSource =
  | HeadersInit
  | Iterable<readonly [string, string]>
  | Iterable<readonly string[]>
  | Readonly<Record<string, string | readonly string[] | number | undefined>>
  | { readonly [Symbol.iterator]: () => Iterator<readonly [string, string]> }

/** The values that every implementation takes as a body. */
export type BodyInit =
  | string
  | ArrayBuffer
  | NodeJS.ArrayBufferView
  | URLSearchParams
  | Blob
  | AnyFormData
  | Iterable<Uint8Array>
  | AsyncIterable<Uint8Array>
  | null

/** A form of this package, of undici or of the runtime: the types of their files differ. */
// biome-ignore lint/suspicious/noExplicitAny: no other type fits in both directions
type AnyFormData = { [Name in keyof FormData]: any }

/** More values that ours take. */
export type BodySource =
  | BodyInit
  | ArrayBufferView
  | globalThis.Blob
  | globalThis.FormData
  | FormDataLike
  | ReadableStream
  | globalThis.ReadableStream
  | AsyncIterable<Uint8Array | string>

/** The runtime has one class, with up to two declarations. */
type RuntimeFile = File & Exclude<ReturnType<globalThis.FormData['get']>, string | null>

/** The value of a field in a `FormData`. */
export type FormDataEntryValue = string | RuntimeFile

/** The mode of a request, as in the standard. */
export type RequestMode = 'navigate' | 'same-origin' | 'no-cors' | 'cors'
/** `omit`: without the cookies of `interceptors.cookies`. The others make no difference. */
export type RequestCredentials = 'omit' | 'same-origin' | 'include'
/** What the request asks of caches on its way. */
export type RequestCache = 'default' | 'no-store' | 'reload' | 'no-cache' | 'force-cache' | 'only-if-cached'
/** What to do with a redirect. */
export type RequestRedirect = 'follow' | 'manual' | 'error'
/** Accepted; without effect. */
export type RequestPriority = 'high' | 'low' | 'auto'
/** Required with a stream as the body. */
export type RequestDuplex = 'half'
/** Where the response would be used in a browser. */
export type RequestDestination =
  | ''
  | 'audio'
  | 'audioworklet'
  | 'document'
  | 'embed'
  | 'font'
  | 'image'
  | 'manifest'
  | 'object'
  | 'paintworklet'
  | 'report'
  | 'script'
  | 'sharedworker'
  | 'style'
  | 'track'
  | 'video'
  | 'worker'
  | 'xslt'

/**
 * Options of `fetch` and `Request` that every implementation takes; ours takes more ({@link
 * RequestSettings}).
 */
export interface RequestInit extends Extensions {
  /** Not allowed with GET and HEAD. Streams and iterables require `duplex`. */
  body?: BodyInit | globalThis.RequestInit['body'] | undefined
  /** The dispatcher that sends the request. Default: the global dispatcher. */
  dispatcher?: AnyDispatcher | undefined
  /** Header fields to send. */
  headers?: HeadersInit | globalThis.RequestInit['headers'] | undefined
  /** Aborts the request. */
  signal?: AbortSignal | null | undefined
}

/** Options of our `fetch` and `Request`: those of the standard, and the dispatcher with its timeouts. */
export interface RequestSettings extends Extensions {
  /** Not allowed with GET and HEAD. Streams and iterables require `duplex`. */
  body?: BodySource | null | undefined
  /** The dispatcher that sends the request. Default: the global dispatcher. */
  dispatcher?: Dispatching | null | undefined
  /** Header fields to send. */
  headers?: HeadersSource | undefined
  /**
   * Aborts the request. Anything with `aborted` and `addEventListener` will do; the type is that which
   * wrappers read.
   */
  signal?: AbortSignal | null | undefined
}

/**
 * A dispatcher of this package, of undici or of the runtime: each has these methods, and the types of what
 * they return differ. These options are given to the `fetch` of all three, and come from all three.
 */
// biome-ignore lint/suspicious/noExplicitAny: no other type fits in both directions
type AnyDispatcher = { [Name in keyof Dispatcher]: any }

interface Extensions {
  /** Milliseconds between two chunks of the response body. Default: the dispatcher's. */
  bodyTimeout?: number | null | undefined
  /**
   * Milliseconds for which the body that is sent may bring nothing; 0 is forever. Default: the dispatcher's.
   */
  requestBodyTimeout?: number | null | undefined
  /** Default: `'default'`. */
  cache?: RequestCache | undefined
  /** `'omit'` sends and stores no cookies of `interceptors.cookies`. Default: `'same-origin'`. */
  credentials?: RequestCredentials | undefined
  /** Required with a stream as the body. */
  duplex?: RequestDuplex | undefined
  /** Milliseconds for the complete response head. Default: the dispatcher's. */
  headersTimeout?: number | null | undefined
  /** Hashes; the body must match one of the strongest kind. */
  integrity?: string | undefined
  /** Without effect, except that a stream cannot be sent with it. */
  keepalive?: boolean | undefined
  /** Default: GET. */
  method?: string | undefined
  /** Default: `'cors'`. */
  mode?: RequestMode | undefined
  /** Without effect. */
  priority?: RequestPriority | undefined
  /** Default: `'follow'`. */
  redirect?: RequestRedirect | undefined
  /** A URL; `''` for none. */
  referrer?: string | undefined
  /** How much of the referrer to send. Default: `''`, which means `strict-origin-when-cross-origin`. */
  referrerPolicy?: ReferrerPolicy | undefined
  /** Only null is accepted. */
  window?: null | undefined
}

/** A `Request` of another implementation, described by its public members. */
export interface RequestLike {
  readonly url: string
  readonly method: string
  readonly headers?: unknown
  readonly body?: unknown
  readonly bodyUsed?: boolean
  readonly signal?: unknown
}

/** A request of this package or of undici: the types of the files in a form differ. */
interface AnyRequest extends Omit<Request, 'clone' | 'formData'> {
  // biome-ignore lint/suspicious/noExplicitAny: no other type fits in both directions
  clone(): any
  // biome-ignore lint/suspicious/noExplicitAny: no other type fits in both directions
  formData(): Promise<any>
}

/** The values that every `fetch` accepts as its first argument. */
export type RequestInfo = string | URL | AnyRequest | globalThis.Request

/** The values that ours accept. */
export type RequestInput = RequestInfo | RequestLike

/** The kind of a response. */
export type ResponseType = 'basic' | 'cors' | 'default' | 'error' | 'opaque' | 'opaqueredirect'

/** The statuses that `Response.redirect` accepts. */
export type ResponseRedirectStatus = 301 | 302 | 303 | 307 | 308

/** Options of `Response` that every implementation takes. */
export interface ResponseInit {
  /** The header fields. */
  headers?: HeadersInit | undefined
  /** From 200 to 599. Default: 200. */
  status?: number | undefined
  /** Default: empty. */
  statusText?: string | undefined
}

/** Options of our `Response`. */
export interface ResponseSettings extends Omit<ResponseInit, 'headers'> {
  /** The header fields. */
  headers?: HeadersSource | undefined
}

/** The members of `Request` and `Response` for reading a body. */
export interface BodyMembers {
  /** The body as a stream; null if there is none. */
  get body(): ReadableStream<Uint8Array> | null
  /** Whether the body has been read or sent, or is being read. */
  get bodyUsed(): boolean
  /** The whole body, in memory that is not shared. */
  arrayBuffer(): Promise<ArrayBuffer>
  /** The whole body as a Blob, with the type given by the headers. */
  blob(): Promise<Blob>
  /** The whole body, in memory that is not shared. */
  bytes(): Promise<Uint8Array>
  /** The whole body as the runtime's FormData. */
  formData(): Promise<FormData>
  /** The whole body, parsed as JSON. */
  json(): Promise<unknown>
  /** The whole body as text. */
  text(): Promise<string>
  /** The body as text, chunk by chunk. */
  textStream(): ReadableStream<string>
}

/** The fields of a request or a response. */
export declare class Headers {
  constructor(init?: HeadersSource)
  /** Appends a value to a field. */
  append(name: string, value: string): void
  /** Removes a field. */
  delete(name: string): void
  /** The value of a field, or all its values joined; null if there is no such field. */
  get(name: string): string | null
  /** Whether the field exists. */
  has(name: string): boolean
  /** Replaces all values of a field with this one. */
  set(name: string, value: string): void
  /** The values of `set-cookie`, one by one. */
  getSetCookie(): string[]
  /** The names, sorted, in lower case. */
  keys(): WebIterator<string>
  /** The values, sorted by name. */
  values(): WebIterator<string>
  /** Names and values, sorted by name. */
  entries(): WebIterator<[string, string]>
  /** Calls back with each value and its name. */
  forEach(callback: (value: string, name: string, headers: Headers) => void, thisArgument?: unknown): void
  [Symbol.iterator](): WebIterator<[string, string]>
}

/** The fields of a form. */
export declare class FormData {
  /** Adds a value. One that is no Blob becomes a string. */
  append(name: string, value: unknown, fileName?: string): void
  /** Removes the values of a field. */
  delete(name: string): void
  /** The first value of a field; null if there is none. */
  get(name: string): FormDataEntryValue | null
  /** The values of a field. */
  getAll(name: string): FormDataEntryValue[]
  /** Whether the field exists. */
  has(name: string): boolean
  /** Replaces all values of a field with this one. */
  set(name: string, value: unknown, fileName?: string): void
  /** The names, in the order in which they were added. */
  keys(): WebIterator<string>
  /** The values, in the order in which they were added. */
  values(): WebIterator<FormDataEntryValue>
  /** Names and values, in the order in which they were added. */
  entries(): WebIterator<[string, FormDataEntryValue]>
  /** Calls back with each value and its name. */
  forEach(
    callback: (value: FormDataEntryValue, name: string, form: FormData) => void,
    thisArgument?: unknown,
  ): void
  [Symbol.iterator](): WebIterator<[string, FormDataEntryValue]>
  readonly [Symbol.toStringTag]: string
}

export interface Response extends BodyMembers {}

/** A response. */
export declare class Response {
  /** A response that represents a network error. */
  static error(): Response
  /** A response with a value as its JSON body. */
  static json(data: unknown, init?: ResponseSettings): Response
  /** A response that redirects to another URL. */
  static redirect(url: string | URL, status?: number): Response
  constructor(body?: BodySource | null, init?: ResponseSettings)
  /** The kind of the response: `basic`, `cors`, `default`, `error` or `opaque`. */
  get type(): ResponseType
  /** The URL it came from, after redirects. */
  get url(): string
  /** Whether it is the result of a redirect. */
  get redirected(): boolean
  /** The status code; 0 if it must not be revealed. */
  get status(): number
  /** Whether the status is from 200 to 299. */
  get ok(): boolean
  /** The reason phrase; empty over HTTP/2. */
  get statusText(): string
  /** The header fields. Those of a fetched response cannot be changed. */
  get headers(): Headers
  /** A second response like this one, with a separate body. */
  clone(): Response
}

export interface Request extends BodyMembers {}

/** A request that `fetch` can send. */
export declare class Request {
  constructor(input: RequestInput, init?: RequestSettings)
  /** In upper case if it is one of the standard methods. */
  get method(): string
  /** The full URL. */
  get url(): string
  /** The header fields, without those added when the request is sent. */
  get headers(): Headers
  /** Always empty. */
  get destination(): RequestDestination
  /** A URL; `about:client` for the global origin, empty for none. */
  get referrer(): string
  /** How much of the referrer is sent; empty for the default. */
  get referrerPolicy(): ReferrerPolicy
  /** The mode given in the options. */
  get mode(): RequestMode
  /** The value given in the options. `omit` leaves out the cookies of `interceptors.cookies`. */
  get credentials(): RequestCredentials
  /** The cache mode given in the options. */
  get cache(): RequestCache
  /** What to do with a redirect. */
  get redirect(): RequestRedirect
  /** Hashes; the body must match one of the strongest kind. */
  get integrity(): string
  /** The value given in the options; without effect. */
  get keepalive(): boolean
  /** Always false. Not every implementation has it. */
  readonly isReloadNavigation?: boolean
  /** Always false. Not every implementation has it. */
  readonly isHistoryNavigation?: boolean
  /** Follows the signal given in the options. Created on first access. */
  get signal(): AbortSignal
  /**
   * Always `half`: the response is available as soon as its head arrives, even if the body is still being
   * sent.
   */
  get duplex(): RequestDuplex
  /** A second request like this one, with a separate body. */
  clone(): Request
}

/** Of a method: a function that takes fewer kinds of options, such as the runtime's, may take its place. */
export type Fetch = { fetch(input: RequestInfo, init?: RequestInit): Promise<Response> }['fetch']
