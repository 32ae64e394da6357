/** The web API for requests: our `fetch` and `Request`, and the runtime's own classes beside them. */
import type { RequestInitWithDispatcher } from './request.ts'
import { runtimeClass } from './runtime-class.ts'

export { fetch } from './fetch.ts'
export { getGlobalOrigin, setGlobalOrigin } from './global-origin.ts'
export { Request, type RequestInitWithDispatcher } from './request.ts'

/** The runtime's `Headers`. */
export const Headers: typeof globalThis.Headers = runtimeClass('Headers')
/** The runtime's `Headers`. */
export type Headers = globalThis.Headers

/** The runtime's `Response`. */
export const Response: typeof globalThis.Response = runtimeClass('Response')
/** The runtime's `Response`. */
export type Response = globalThis.Response

/** The runtime's `FormData`. */
export const FormData: typeof globalThis.FormData = runtimeClass('FormData')
/** The runtime's `FormData`. */
export type FormData = globalThis.FormData

/** What `fetch` fetches. */
export type RequestInfo = string | URL | globalThis.Request
/** Options of `fetch` and `Request`, with the dispatcher that sends the request. */
export type RequestInit = RequestInitWithDispatcher
/** Options of `Response`. */
export type ResponseInit = NonNullable<ConstructorParameters<typeof globalThis.Response>[1]>
/** What `Headers` can be made from. */
export type HeadersInit = NonNullable<globalThis.RequestInit['headers']>
/** What can be a body. */
export type BodyInit = NonNullable<globalThis.RequestInit['body']>
/** What a field of a `FormData` holds. */
export type FormDataEntryValue = NonNullable<ReturnType<globalThis.FormData['get']>>
/** Of a `Request`. */
export type RequestCache = globalThis.Request['cache']
/** Of a `Request`. */
export type RequestCredentials = globalThis.Request['credentials']
/** Of a `Request`. */
export type RequestDestination = globalThis.Request['destination']
/** A request with a stream as its body must say so. */
export type RequestDuplex = 'half'
/** Of a `Request`. */
export type RequestMode = globalThis.Request['mode']
/** Of a `Request`. */
export type RequestRedirect = globalThis.Request['redirect']
/** Of a `Request`. */
export type ReferrerPolicy = globalThis.Request['referrerPolicy']
/** What `Response.redirect` takes. */
export type ResponseRedirectStatus = 301 | 302 | 303 | 307 | 308
/** Of a `Response`. */
export type ResponseType = globalThis.Response['type']
