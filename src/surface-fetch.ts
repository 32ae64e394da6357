/** `ventuno/fetch`: fetch, its classes, and `caches`. */

export { getGlobalOrigin, setGlobalOrigin } from './base/address/global-origin.ts'
export type { Cache, CacheQueryOptions } from './cache-storage/cache.ts'
export type { CacheStorage, MultiCacheQueryOptions } from './cache-storage/cache-storage.ts'
export { caches } from './cache-storage/cache-storage.ts'
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
  ResponseRedirectStatus,
  ResponseType,
} from './fetch/declared-classes.ts'
export { fetch } from './fetch/fetch.ts'
export { FormData } from './fetch/form/runtime-form-data.ts'
export { Headers } from './fetch/headers/headers.ts'
export type { ReferrerPolicy } from './fetch/headers/referrer.ts'
export type { MIMEType } from './fetch/mime/mime-functions.ts'
export { parseMIMEType, serializeAMimeType } from './fetch/mime/mime-functions.ts'
export { Request } from './fetch/request.ts'
export { Response } from './fetch/response.ts'
