/** The web API for requests. All but `FormData` is ours. */

export type { BodyInit } from './body-init.ts'
export { fetch } from './fetch.ts'
export { getGlobalOrigin, setGlobalOrigin } from './global-origin.ts'
export { Headers, type HeadersInit } from './headers.ts'
export type {
  RequestCache,
  RequestCredentials,
  RequestInit,
  RequestInit as RequestInitWithDispatcher,
  RequestMode,
  RequestRedirect,
} from './init.ts'
export type { ReferrerPolicy } from './referrer.ts'
export { Request, type RequestInfo } from './request.ts'
export { Response, type ResponseInit, type ResponseType } from './response.ts'
export { FormData } from './runtime-form-data.ts'

/** What a field of a `FormData` holds. */
export type FormDataEntryValue = NonNullable<ReturnType<globalThis.FormData['get']>>
/** Of a `Request`; always empty. */
export type RequestDestination = ''
/** A request with a stream as its body must say so. */
export type RequestDuplex = 'half'
/** What `Response.redirect` takes. */
export type ResponseRedirectStatus = 301 | 302 | 303 | 307 | 308
