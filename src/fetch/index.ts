/** The web API for requests. Everything but `FormData` is implemented here. */

export { getGlobalOrigin, setGlobalOrigin } from '../base/address/global-origin.ts'
export type {
  BodyInit,
  FormDataEntryValue,
  HeadersInit,
  RequestCache,
  RequestCredentials,
  RequestDestination,
  RequestDuplex,
  RequestInfo,
  RequestInit,
  RequestInit as RequestInitWithDispatcher,
  RequestMode,
  RequestRedirect,
  ResponseInit,
  ResponseType,
} from './declared-classes.ts'
export { fetch } from './fetch.ts'
export { FormData } from './form/runtime-form-data.ts'
export { Headers } from './headers/headers.ts'
export type { ReferrerPolicy } from './headers/referrer.ts'
export { Request } from './request.ts'
export { Response } from './response.ts'

/** The statuses that `Response.redirect` accepts. */
export type ResponseRedirectStatus = 301 | 302 | 303 | 307 | 308
