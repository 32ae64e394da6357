/** How long a response is fresh, and how old it is (RFC 9111 §4.2). All times are milliseconds. */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { type CacheControl, type CacheControlDirectives, MAX_SECONDS } from '../../relay/cache-control.ts'
import { fieldLines, hasField, trimmed } from '../../relay/fields.ts'
import type { Head } from '../../relay/response-source.ts'
import { dateField } from './date-field.ts'

export type CacheType = 'shared' | 'private'

export const SECOND = 1000
export const DAY: number = 24 * 60 * 60 * SECOND
export const YEAR: number = 365 * DAY

/** RFC 9110 §15.1 and its registry: a cache may choose a lifetime for these. */
export const HEURISTIC_STATUSES: ReadonlySet<number> = new Set([
  200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
])

/** What a response says about storing it. */
export interface ControlFacts extends Omit<CacheControl, 'directives'> {
  readonly control: CacheControlDirectives
  /** A targeted field replaces Cache-Control, and Expires as well (RFC 9213 §2.2). */
  readonly isTargeted: boolean
}

/** What is known of a response when its head has arrived. */
export interface ResponseFacts extends ControlFacts, Head {
  /** When the request was sent. */
  readonly requestTime: number
  /** When the head arrived. */
  readonly responseTime: number
}

/** Explicit, chosen, or null for a response that has none. */
export function lifetimeOf(facts: ResponseFacts, type: CacheType, byDefault?: number): number | null {
  const { control, headers, statusCode, responseTime } = facts
  const explicit = (type === 'shared' ? control['s-maxage'] : undefined) ?? control['max-age']
  if (explicit !== undefined) return explicit * SECOND
  const date = dateField(headers, 'date', responseTime) ?? responseTime
  if (!facts.isTargeted && hasField(headers, 'expires')) {
    const expires = dateField(headers, 'expires', responseTime)
    return expires === null ? 0 : Math.min(Math.max(0, expires - date), MAX_SECONDS * SECOND)
  }
  if (control['no-cache'] === true) return 0
  if (HEURISTIC_STATUSES.has(statusCode) || control.public === true) {
    const modified = dateField(headers, 'last-modified', responseTime)
    // A tenth of the time it has not changed (RFC 9111 §4.2.2).
    if (modified !== null && modified < date) return Math.floor((date - modified) / 10)
  }
  if (control.immutable === true) return YEAR
  return HEURISTIC_STATUSES.has(statusCode) ? (byDefault ?? null) : null
}

/** How old the response was when it arrived (RFC 9111 §4.2.3). */
export function initialAge(facts: ResponseFacts): number {
  const { headers, requestTime, responseTime } = facts
  const date = dateField(headers, 'date', responseTime)
  // A date has whole seconds: one of the current second is no older than its part of it.
  const whole = Math.floor(responseTime / SECOND) * SECOND
  const apparent = date === null ? 0 : Math.max(0, whole - date)
  return Math.max(apparent, ageField(headers) * SECOND + Math.max(0, responseTime - requestTime))
}

/** The first of the values if it is a number (RFC 9111 §5.1), else 0. */
function ageField(headers: HeaderObject): number {
  const [text = ''] = [fieldLines(headers, 'age') ?? ''].flat()
  const first = trimmed(text.split(',', 1)[0]!)
  return /^[0-9]+$/.test(first) ? Math.min(Number(first), MAX_SECONDS) : 0
}
