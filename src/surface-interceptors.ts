/** `ventuno/interceptors`: the interceptors, and the handlers and agents that two of them replace. */

export type {
  AuthOptions,
  AuthOrigins,
  AuthUser,
  BearerContext,
  BearerFunction,
} from './interceptor/auth/options.ts'
export type { CircuitBreakerOptions, CircuitStoreOptions } from './interceptor/circuit-breaker/options.ts'
export type { CompressOptions } from './interceptor/compress/options.ts'
export type { CookieJarLike, CookiesOptions } from './interceptor/cookies/options.ts'
export type { DecompressOptions } from './interceptor/decompress/options.ts'
export type { DeduplicateMethods, DeduplicateOptions } from './interceptor/deduplicate/options.ts'
export type {
  DnsAddress,
  DnsLookup,
  DnsLookupOptions,
  DnsOptions,
  DnsPick,
} from './interceptor/dns/options.ts'
export type { DnsFamilyRecords, DnsRecord, DnsRecords } from './interceptor/dns/records.ts'
export type { DnsStorage } from './interceptor/dns/storage.ts'
export type { DumpInterceptorOptions } from './interceptor/dump/interceptor.ts'
export type { GuardInterceptorOptions } from './interceptor/guard/options.ts'
export type { HedgeOptions } from './interceptor/hedge/options.ts'
export type {
  MeterLike,
  MetricAttributes,
  MetricAttributeValue,
  MetricCounter,
  MetricHistogram,
  MetricInstrumentOptions,
  MetricObservable,
  MetricObservation,
} from './interceptor/metrics/meter.ts'
export type { MetricsOptions } from './interceptor/metrics/options.ts'
export type { RedirectContext } from './interceptor/redirect/context.ts'
export { RedirectHandler } from './interceptor/redirect/handler.ts'
export type { AllowRedirect, RedirectOptions, RedirectSource } from './interceptor/redirect/options.ts'
export type { ResponseErrorOptions } from './interceptor/response-error/interceptor.ts'
export { RetryAgent } from './interceptor/retry/agent.ts'
export type { RetryAttempt } from './interceptor/retry/failed-attempts.ts'
export { RetryHandler } from './interceptor/retry/handler.ts'
export type {
  OnRetryCallback,
  RetriedError,
  RetryCallback,
  RetryContext,
  RetryDispatchOptions,
  RetryEvent,
  RetryHandlers,
  RetryHook,
  RetryList,
  RetryOptions,
  RetryState,
} from './interceptor/retry/options.ts'
export type { RetryBudgetOptions } from './interceptor/retry-budget.ts'
export type { ThrottleKey, ThrottleOptions } from './interceptor/throttle/options.ts'
export * as interceptors from './interceptors.ts'
export type { ScriptClient } from './redis/redis-client.ts'
export type { SharedStoreOptions, WithoutStore } from './redis/shared-store.ts'
export type { CacheControlDirectives } from './relay/cache-control.ts'
