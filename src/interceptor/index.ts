/** The interceptors, as one namespace: each is a function that takes options and returns an argument of `compose()`. */

export { cache } from '../cache/interceptor.ts'
export type { CacheOptions as CacheInterceptorOpts } from '../cache/options.ts'
export { circuitBreaker } from './circuit-breaker/interceptor.ts'
export { cookies } from './cookies/interceptor.ts'
export { decompress } from './decompress/interceptor.ts'
export type { DecompressOptions as DecompressInterceptorOpts } from './decompress/options.ts'
export { deduplicate } from './deduplicate/interceptor.ts'
export type {
  DeduplicateMethods,
  DeduplicateOptions as DeduplicateInterceptorOpts,
} from './deduplicate/options.ts'
export { dns } from './dns/interceptor.ts'
export type { DnsOptions as DNSInterceptorOpts } from './dns/options.ts'
export type {
  DnsRecord as DNSInterceptorRecord,
  DnsRecords as DNSInterceptorOriginRecords,
} from './dns/records.ts'
export type { DnsStorage as DNSStorage } from './dns/storage.ts'
export type { DumpInterceptorOptions as DumpInterceptorOpts } from './dump/interceptor.ts'
export { dump } from './dump/interceptor.ts'
export { guard } from './guard/interceptor.ts'
export { hedge } from './hedge/interceptor.ts'
export { redirect } from './redirect/interceptor.ts'
export type { RedirectOptions as RedirectInterceptorOpts } from './redirect/options.ts'
export type { ResponseErrorOptions as ResponseErrorInterceptorOpts } from './response-error/interceptor.ts'
export { responseError } from './response-error/interceptor.ts'
export { retry } from './retry/interceptor.ts'
export type { RetryOptions as RetryInterceptorOpts } from './retry/options.ts'
export { throttle } from './throttle/interceptor.ts'
