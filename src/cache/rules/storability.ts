/** Whether a response may be stored (RFC 9111 §3). */
import { fieldLines, hasAny, hasField, varyNames } from '../../relay/fields.ts'
import type { RequestView } from '../../relay/request-view.ts'
import type { CacheSettings } from '../options.ts'
import { HEURISTIC_STATUSES, initialAge, lifetimeOf, type ResponseFacts } from './freshness.ts'
import { entityTag } from './validators.ts'
import { namesHidden } from './vary.ts'

/** Why a response is not stored: shown by `cacheStatus`. */
export type Refusal =
  | 'status'
  | 'request-no-store'
  | 'no-store'
  | 'must-understand'
  | 'malformed'
  | 'private'
  | 'set-cookie'
  | 'vary'
  | 'authorization'
  | 'no-lifetime'
  | 'date'
  | 'expired'

/**
 * These also say that what is stored must not be used: the resource turned out to be one user's, or to depend
 * on more than the cache can see.
 */
export const DROPPING: ReadonlySet<Refusal> = new Set<Refusal>(['private', 'set-cookie', 'vary'])

/**
 * Final statuses without rules of their own for caches (RFC 9110 §15); must-understand asks for one of them.
 */
const UNDERSTOOD: ReadonlySet<number> = new Set([
  200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408,
  409, 410, 411, 412, 413, 414, 415, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
])

/** Those that can fail (RFC 9110 §13.1). */
const CONDITIONS = ['if-match', 'if-none-match', 'if-unmodified-since']

/** What of a request decides whether its response may be stored. */
type Asked = Pick<RequestView, 'headers' | 'control'>

/** Null if it may be stored. `hidden` are fields of the request that the cache does not see. */
export function storingRefusal(
  facts: ResponseFacts,
  request: Asked,
  rules: CacheSettings,
  hidden: ReadonlySet<string>,
): Refusal | null {
  const { statusCode, headers, control } = facts
  // A 206 is part of a response, and a 304 answers a validator that is not ours.
  if (statusCode < 200 || statusCode === 206 || statusCode === 304) return 'status'
  // Without its conditions or its range, the request would have got another response.
  const causes = statusCode === 416 ? ['range'] : statusCode === 412 ? CONDITIONS : []
  if (hasAny(request.headers, causes)) return 'status'
  if (request.control['no-store'] === true) return 'request-no-store'
  const understood = UNDERSTOOD.has(statusCode)
  if (control['must-understand'] === true ? !understood : control['no-store'] === true) {
    return control['must-understand'] === true ? 'must-understand' : 'no-store'
  }
  if (facts.isMalformed) return 'malformed'
  if (rules.type === 'shared') {
    if (control.private === true) return 'private'
    if (hasField(headers, 'set-cookie')) return 'set-cookie'
  }
  const names = varyNames(headers)
  if (names === null || namesHidden(names, hidden)) return 'vary'
  const isAuthorized = hasField(request.headers, 'authorization') || hidden.has('authorization')
  if (rules.type === 'shared' && isAuthorized && !facts.isForAllUsers) return 'authorization'
  if (!mayHaveLifetime(facts, rules)) return 'no-lifetime'
  // One that cannot be read counts as absent: the time of receipt takes its place (RFC 9110 §6.6.1).
  if ([fieldLines(headers, 'date')].flat().length > 1) return 'date'
  const lifetime = lifetimeOf(facts, rules.type, rules.cacheByDefault)
  const hasValidator = entityTag(headers) !== null || hasField(headers, 'last-modified')
  if (lifetime === null && !hasValidator) return 'no-lifetime'
  if ((lifetime ?? 0) <= initialAge(facts) && !hasValidator) return 'expired'
  return null
}

function mayHaveLifetime(facts: ResponseFacts, rules: CacheSettings): boolean {
  const { statusCode, headers, control, isTargeted } = facts
  const hasExpires = !isTargeted && hasField(headers, 'expires')
  if (HEURISTIC_STATUSES.has(statusCode)) {
    const speaks = isTargeted || hasAny(headers, ['cache-control', 'last-modified'])
    return hasExpires || speaks || rules.cacheByDefault !== undefined
  }
  return (
    hasExpires ||
    control.public === true ||
    control['max-age'] !== undefined ||
    (rules.type === 'shared' ? control['s-maxage'] !== undefined : control.private !== undefined)
  )
}

/** Whether a response replaces the stored one even if it is not stored itself: a passing error does not. */
export function replaces(statusCode: number): boolean {
  return statusCode < 400 || statusCode === 404 || statusCode === 410
}
