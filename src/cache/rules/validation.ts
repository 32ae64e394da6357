/** Asks the origin whether a stored response is still right, and reads the answer (RFC 9111 §4.3). */
import { formatHttpDate } from '../../base/text/http-date.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { hasAny, hasField, singleField, trimmed, varyNames } from '../../relay/fields.ts'
import type { CacheValue } from '../store/cache-store.ts'
import { dateField } from './date-field.ts'
import type { CacheType, ResponseFacts } from './freshness.ts'
import { weaklyEqual } from './validators.ts'

export interface Conditions {
  readonly 'if-none-match'?: string
  readonly 'if-modified-since'?: string
}

const CONDITIONS = ['if-none-match', 'if-modified-since']

/**
 * The validators of a stored response; null if it cannot be confirmed, and only a plain request helps. Where
 * there is none, the date of the response is one (RFC 9110 §13.1.3), unless the caller has better conditions.
 * Not beside an entity tag: nginx wants both to match, and has no date to compare with.
 */
export function conditionsOf(entry: CacheValue, request: HeaderObject): Conditions | null {
  // It is not kept to be confirmed: its validators belong to the URL that redirects led to.
  if (entry.deleteAt <= entry.staleAt) return null
  const own = singleField(entry.headers, 'last-modified')
  if (own === null && entry.etag === undefined && hasAny(request, CONDITIONS)) return null
  const modified = own ?? (entry.etag === undefined ? dateText(entry) : null)
  return {
    ...(entry.etag === undefined ? null : { 'if-none-match': entry.etag }),
    ...(modified === null ? null : { 'if-modified-since': modified }),
  }
}

function dateText({ headers, cachedAt }: CacheValue): string | null {
  return dateField(headers, 'date', cachedAt) === null
    ? formatHttpDate(new Date(cachedAt))
    : singleField(headers, 'date')
}

/** The headers of a conditional request. Conditions and ranges of the caller are applied to the answer. */
export function conditionalHeaders(request: HeaderObject, conditions: Conditions): HeaderObject {
  const headers: HeaderObject = { ...request }
  for (const name of [...CONDITIONS, 'range', 'if-range']) delete headers[name]
  return Object.assign(headers, conditions)
}

/**
 * Whether a 304 is about this response, and may update it. One that names another entity tag, or says that
 * the response was never to be stored or depends on other fields, makes the stored one useless.
 */
export function confirms(entry: CacheValue, facts: ResponseFacts, type: CacheType): boolean {
  const { headers, control } = facts
  if (facts.isMalformed) return false
  if (namesSameTag(headers, entry) === false) return false
  if (control['no-store'] === true) return false
  if (type === 'shared' && (control.private === true || hasField(headers, 'set-cookie'))) return false
  const known = entry.vary ?? {}
  return varyNames(headers)?.every((name) => Object.hasOwn(known, name)) ?? false
}

/** Null if one of them has none. Two strong tags that are weakly equal are the same text. */
function namesSameTag(headers: HeaderObject, { etag }: CacheValue): boolean | null {
  const tag = singleField(headers, 'etag')
  return tag === null || etag === undefined ? null : weaklyEqual(trimmed(tag), etag)
}

/**
 * A HEAD response describes what GET would return now (RFC 9111 §4.3.5): whether it is what is stored. Null
 * if it does not say.
 */
export function describesSame(entry: CacheValue, headers: HeaderObject): boolean | null {
  const modified = singleField(headers, 'last-modified')
  const length = singleField(headers, 'content-length')
  const known = singleField(entry.headers, 'content-length')
  if (length !== null && known !== null && length !== known) return false
  const stored = singleField(entry.headers, 'last-modified')
  return namesSameTag(headers, entry) ?? (modified !== null && stored !== null ? modified === stored : null)
}
