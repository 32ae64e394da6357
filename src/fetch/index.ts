/** The web API for requests. Everything but `FormData` is implemented here. */

export { getGlobalOrigin, setGlobalOrigin } from '../base/global-origin.ts'
export type { BodyInit } from './body-init.ts'
export { fetch } from './fetch.ts'
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

/** The value of a field in a `FormData`. */
export type FormDataEntryValue = NonNullable<ReturnType<globalThis.FormData['get']>>
/** The destination of a `Request`; always empty. */
export type RequestDestination = ''
/** Required with a stream as the body. */
export type RequestDuplex = 'half'
/** The statuses that `Response.redirect` accepts. */
export type ResponseRedirectStatus = 301 | 302 | 303 | 307 | 308
