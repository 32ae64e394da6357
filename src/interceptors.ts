/**
 * The interceptors, as one namespace: each is a function that takes options and returns an argument of
 * `compose()`.
 */

export { cache } from './cache/interceptor.ts'
export type { CacheOptions as CacheInterceptorOpts } from './cache/options.ts'
export { auth } from './interceptor/auth/interceptor.ts'
export { circuitBreaker } from './interceptor/circuit-breaker/interceptor.ts'
export { compress } from './interceptor/compress/interceptor.ts'
export { cookies } from './interceptor/cookies/interceptor.ts'
export { decompress } from './interceptor/decompress/interceptor.ts'
export type { DecompressOptions as DecompressInterceptorOpts } from './interceptor/decompress/options.ts'
export { deduplicate } from './interceptor/deduplicate/interceptor.ts'
export type {
  DeduplicateMethods,
  DeduplicateOptions as DeduplicateInterceptorOpts,
} from './interceptor/deduplicate/options.ts'
export { dns } from './interceptor/dns/interceptor.ts'
export type { DnsOptions as DNSInterceptorOpts } from './interceptor/dns/options.ts'
export type {
  DnsRecord as DNSInterceptorRecord,
  DnsRecords as DNSInterceptorOriginRecords,
} from './interceptor/dns/records.ts'
export type { DnsStorage as DNSStorage } from './interceptor/dns/storage.ts'
export type { DumpInterceptorOptions as DumpInterceptorOpts } from './interceptor/dump/interceptor.ts'
export { dump } from './interceptor/dump/interceptor.ts'
export { guard } from './interceptor/guard/interceptor.ts'
export { hedge } from './interceptor/hedge/interceptor.ts'
export { metrics } from './interceptor/metrics/interceptor.ts'
export { redirect } from './interceptor/redirect/interceptor.ts'
export type { RedirectOptions as RedirectInterceptorOpts } from './interceptor/redirect/options.ts'
export type { ResponseErrorOptions as ResponseErrorInterceptorOpts } from './interceptor/response-error/interceptor.ts'
export { responseError } from './interceptor/response-error/interceptor.ts'
export { retry } from './interceptor/retry/interceptor.ts'
export type { RetryOptions as RetryInterceptorOpts } from './interceptor/retry/options.ts'
export { throttle } from './interceptor/throttle/interceptor.ts'
