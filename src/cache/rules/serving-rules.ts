/** Whether a stored response answers a request (RFC 9111 §4, RFC 5861, RFC 8246). */
import type { CacheControlDirectives } from '../../relay/cache-control.ts'
import type { RequestView } from '../../relay/request-view.ts'
import type { CacheSettings } from '../options.ts'
import type { CacheValue } from '../store/cache-store.ts'
import { type CacheType, SECOND } from './freshness.ts'

/**
 * - `fresh`: it answers the request.
 * - `stale`: it is stale, and the request accepts that (max-stale).
 * - `while-revalidating`: it is stale and answers; another request brings it up to date.
 * - `revalidate`: the origin has to confirm it.
 * - `request`: it is fresh, but the request wants it confirmed.
 */
export type Service = 'fresh' | 'stale' | 'while-revalidating' | 'revalidate' | 'request'

/**
 * Clocks of processes that share a store differ. Beyond this, the clock was set back, and no age is known.
 */
const CLOCK_TOLERANCE = SECOND

export function serviceOf(entry: CacheValue, { control: request }: RequestView, type: CacheType): Service {
  const { cacheControlDirectives: control } = entry
  const now = Date.now()
  const age = now - entry.cachedAt
  if (age < -CLOCK_TOLERANCE || control['no-cache'] === true) return 'revalidate'
  const isFresh = now < entry.staleAt
  const { 'max-age': oldest, 'min-fresh': minFresh, 'max-stale': maxStale } = request
  const isImmutable = isFresh && oldest === 0 && control.immutable === true
  const isTooOld = oldest !== undefined && age >= oldest * SECOND && !isImmutable
  const endsTooSoon = minFresh !== undefined && entry.staleAt - now < minFresh * SECOND
  if (request['no-cache'] !== undefined || isTooOld || endsTooSoon) return isFresh ? 'request' : 'revalidate'
  if (isFresh) return 'fresh'
  if (mustRevalidate(control, type)) return 'revalidate'
  const staleness = now - entry.staleAt
  if (maxStale !== undefined && staleness <= maxStale * SECOND) return 'stale'
  if (minFresh === undefined && staleness < (control['stale-while-revalidate'] ?? 0) * SECOND) {
    return 'while-revalidating'
  }
  return 'revalidate'
}

/** Never served stale, whatever the request or an option allows. */
function mustRevalidate(control: CacheControlDirectives, type: CacheType): boolean {
  if (control['must-revalidate'] === true || control['no-cache'] === true) return true
  return type === 'shared' && (control['proxy-revalidate'] === true || control['s-maxage'] !== undefined)
}

/** Whether it may answer for a failed revalidation (RFC 5861 §4). */
export function servesOnError(entry: CacheValue, view: RequestView, rules: CacheSettings): boolean {
  const { type, staleIfError } = rules
  const { control: request } = view
  const { cacheControlDirectives: control } = entry
  if (mustRevalidate(control, type) || request['no-cache'] !== undefined) return false
  const own = control['stale-if-error']
  const given = own === undefined ? staleIfError : own * SECOND
  const window = Math.max(given, (request['stale-if-error'] ?? 0) * SECOND)
  return window > 0 && Date.now() - entry.staleAt < window
}

/** Server errors for which RFC 5861 §4 lets a stale response serve. */
export const SERVER_FAILURES: ReadonlySet<number> = new Set([500, 502, 503, 504])

/** Whole seconds, never negative. */
export function ageOf(entry: CacheValue, now: number): number {
  return Math.max(0, Math.floor((now - entry.cachedAt) / SECOND))
}
