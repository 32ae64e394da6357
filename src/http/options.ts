/** What a caller may ask of the client and of a call. Types only: the checks are in settings.ts and body.ts. */
import type { CacheOptions } from '../cache/options.ts'
import type { GuardPolicy } from '../guard/options.ts'
import type { AuthOptions } from '../interceptor/auth/options.ts'
import type { CircuitBreakerOptions } from '../interceptor/circuit-breaker/options.ts'
import type { CookieJarLike } from '../interceptor/cookies/options.ts'
import type { DecompressOptions } from '../interceptor/decompress/options.ts'
import type { GuardInterceptorOptions } from '../interceptor/guard/options.ts'
import type { RedirectOptions } from '../interceptor/redirect/options.ts'
import type { RetryOptions } from '../interceptor/retry/options.ts'
import type { ThrottleOptions } from '../interceptor/throttle/options.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { BodyInput, FormDataLike } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'

/** The value of a header; `undefined` removes the header that the client has. */
export type HttpHeaderValue = string | number | readonly string[] | undefined

/** Header fields: an object, or pairs as those of `Headers` and `Map`. */
export type HttpHeaders =
  | { readonly [name: string]: HttpHeaderValue }
  | Iterable<readonly [name: string, value: string]>

type QueryValue = string | number | boolean

/** The parameters of a query or a form; `undefined` leaves one out. */
export type HttpQuery =
  | { readonly [name: string]: QueryValue | readonly QueryValue[] | undefined }
  | URLSearchParams

/** What is sent as JSON: what `JSON.stringify` makes a text of. A promise is refused at the call. */
export type JsonInput = string | number | boolean | null | object

/** Time limits in milliseconds; 0 for none. */
export interface HttpTimeouts {
  /** For one attempt, until its response head has come. */
  attempt?: number | undefined
  /** For the call with all its attempts, waits and hooks, and with the body. */
  total?: number | undefined
}

/** The request as hooks see it. */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string
  /** With the parameters of `query`. A hook may change it, within its origin. */
  readonly url: URL
  /** By lower-case name. A hook may add, change and delete fields. */
  readonly headers: Record<string, string | readonly string[] | undefined>
  /** As it is handed to the dispatcher. */
  readonly body: unknown
}

/** The head of a response as hooks see it. */
export interface HttpResponseHead {
  /** Of the last response, also a bad one. */
  readonly statusCode: number
  /** By lower-case name. */
  readonly headers: HeaderObject
  /** After all redirects. */
  readonly url: string
  /** Milliseconds since the call. */
  readonly duration: number
}

type Answer = void | Promise<void>
type OneOrMore<T> = T | readonly T[]

/** Called before the request is sent; what it throws is what the call fails with. */
export type BeforeRequest = (request: HttpRequest) => Answer
/** Called when the final head has come, whatever its status. */
export type AfterResponse = (response: HttpResponseHead, request: HttpRequest) => Answer

/** What is known about an attempt that has failed. */
export interface HttpRetry {
  /** The number of the retry that follows, from 1 on. */
  readonly attempt: number
  /** What the attempt before has failed with; of a bad status, an error with it. */
  readonly error: Error
  /** The bad status, if it was one. */
  readonly statusCode: number | undefined
  /** Milliseconds until the retry; null if a policy of the caller has decided. */
  readonly delay: number | null
}

/** Called before each wait for another attempt. */
export type BeforeRetry = (retry: HttpRetry) => Answer

/** Functions of the program that see each call. A call waits for those that return a promise. */
export interface HttpHooks {
  /** Before the first attempt. May change the request. */
  beforeRequest?: OneOrMore<BeforeRequest> | undefined
  /** When a final head has come, also that of a bad status or from the cache. */
  afterResponse?: OneOrMore<AfterResponse> | undefined
  /** Before each further attempt. */
  beforeRetry?: OneOrMore<BeforeRetry> | undefined
}

/** How much of a body has gone. */
export interface HttpProgress {
  /** Bytes. */
  readonly transferred: number
  /** Of the whole body; null if that is not known. */
  readonly total: number | null
}

interface SharedOptions {
  /** Fields of each request. */
  headers?: HttpHeaders | undefined
  /** Parameters of each request. Those that the path has win. */
  query?: HttpQuery | undefined
  /** Repeats what can be repeated: options of the interceptor, a number of retries, or `true`. Default: false. */
  retry?: RetryOptions | number | boolean | undefined
  /** Default: none. */
  timeout?: HttpTimeouts | undefined
  /** Called after those that are there already. */
  hooks?: HttpHooks | undefined
  /** Fail if the status is not of 200 to 299. Default: true. */
  throwOnError?: boolean | undefined
}

/** Options of `extend()`. */
export interface HttpOptions extends SharedOptions {
  /** How many redirects are followed, or options of the interceptor; false for none. Default: 10. */
  redirect?: RedirectOptions | number | boolean | undefined
  /** What paths are appended to. A relative one is appended to that of the parent. */
  baseUrl?: string | URL | undefined
  /** Sends the requests. Default: the global dispatcher. */
  dispatcher?: Dispatching | undefined
  /** Credentials for the origin of `baseUrl`, or for `origins`: options of the interceptor. Default: none. */
  auth?: AuthOptions | false | undefined
  /** Where requests may go: options of the interceptor. Default: anywhere. */
  guard?: GuardPolicy | GuardInterceptorOptions | false | undefined
  /** How many requests run at a time and begin per second: options of the interceptor. */
  throttle?: ThrottleOptions | false | undefined
  /** Fails at once while the origin is down: options of the interceptor, or `true`. Default: false. */
  circuitBreaker?: CircuitBreakerOptions | boolean | undefined
  /** Stores responses: options of the interceptor, or `true`. Default: false. */
  cache?: CacheOptions | boolean | undefined
  /** Keeps cookies: a jar, or `true` for one of its own. Default: false. */
  cookies?: CookieJarLike | boolean | undefined
  /** Asks for compressed bodies and decodes them: options of the interceptor, or `true`. Default: true. */
  decompress?: DecompressOptions | boolean | undefined
}

/** Options of a call. */
export interface HttpCallOptions extends SharedOptions {
  /** Aborts the call, also while its body is read. */
  signal?: AbortSignal | null | undefined
  /** How many redirects are followed; false for none. */
  redirect?: number | false | undefined
  /** `false` for a call without cookies. */
  cookies?: false | undefined
  /** Repeating the request does no harm, whatever its method. */
  idempotent?: boolean | undefined
  /** Called as pieces of the response body arrive, after decoding. */
  onDownloadProgress?: ((progress: HttpProgress) => void) | undefined
}

/** Options of a call with a body: at most one of `json`, `form`, `multipart` and `body`. */
export interface HttpBodyOptions extends HttpCallOptions {
  /** Sent as JSON. */
  json?: JsonInput | undefined
  /** Sent as `application/x-www-form-urlencoded`. */
  form?: HttpQuery | undefined
  /** Sent as `multipart/form-data`. */
  multipart?:
    | FormDataLike
    | { readonly [name: string]: QueryValue | Blob | readonly (QueryValue | Blob)[] | undefined }
    | undefined
  /** Sent as it is. A function makes the body for each attempt. */
  body?: BodyInput | (() => BodyInput) | undefined
  /** Called as pieces of the request body are handed to the connection. */
  onUploadProgress?: ((progress: HttpProgress) => void) | undefined
}
