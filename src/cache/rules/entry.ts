/**
 * Makes stored responses from received ones, and brings stored ones up to date (RFC 9111 §3.1, §3.2, §4.3.4).
 */

import { setOwn } from '../../base/object/own-record.ts'
import { formatHttpDate } from '../../base/text/http-date.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { CacheControlDirectives } from '../../relay/cache-control.ts'
import { fieldText, hasField, trimmed, varyNames } from '../../relay/fields.ts'
import type { CacheSettings } from '../options.ts'
import type { CacheValue } from '../store/cache-store.ts'
import { DAY, initialAge, lifetimeOf, type ResponseFacts, SECOND, YEAR } from './freshness.ts'
import { entityTag } from './validators.ts'
import { varyValues } from './vary.ts'

/** They belong to one connection, to one proxy, or to the time of one response. */
const NOT_STORED: ReadonlySet<string> = new Set(
  (
    'age connection keep-alive proxy-authenticate proxy-authentication-info proxy-authorization ' +
    'proxy-connection te transfer-encoding upgrade'
  ).split(' '),
)

/**
 * A 304 has no content, and what it says about content is often wrong: the body stays as it was stored, in
 * its coding, type and length (RFC 9111 §3.2).
 */
const OF_THE_BODY: ReadonlySet<string> = new Set(
  'content-encoding content-length content-range content-type'.split(' '),
)

/** The stored form of a response that may be stored. */
export function entryOf(facts: ResponseFacts, request: HeaderObject, rules: CacheSettings): CacheValue {
  const { control } = facts
  const headers = storedHeaders(facts.headers, control)
  const lifetime = lifetimeOf(facts, rules.type, rules.cacheByDefault) ?? 0
  const cachedAt = facts.responseTime - initialAge(facts)
  const staleAt = cachedAt + lifetime
  const etag = entityTag(headers)
  const hasValidator = etag !== null || hasField(headers, 'last-modified')
  const kept = Math.max(
    lifetime,
    (control['stale-while-revalidate'] ?? 0) * SECOND,
    (control['stale-if-error'] ?? 0) * SECOND,
    rules.staleIfError,
    hasValidator ? DAY : 0,
    control.immutable === true ? YEAR : 0,
  )
  const value: CacheValue = {
    statusCode: facts.statusCode,
    statusMessage: facts.statusText ?? '',
    headers,
    cacheControlDirectives: control,
    cachedAt,
    staleAt,
    deleteAt: Math.max(staleAt, facts.responseTime) + kept,
  }
  const vary = varyValues(varyNames(headers) ?? [], request)
  if (vary !== undefined) value.vary = vary
  if (etag !== null) value.etag = etag
  return value
}

/** Without hop-by-hop fields and those that a qualified `private` or `no-cache` names. */
function storedHeaders(received: HeaderObject, control: CacheControlDirectives): HeaderObject {
  const named = connectionOptions(received)
  for (const names of [control.private, control['no-cache']]) {
    if (Array.isArray(names)) for (const name of names) named.add(name)
  }
  const stored: HeaderObject = {}
  for (const name of Object.keys(received)) {
    if (!NOT_STORED.has(name) && !named.has(name)) setOwn(stored, name, received[name]!)
  }
  return stored
}

/** The fields that belong to the connection (RFC 9110 §7.6.1). */
function connectionOptions(headers: HeaderObject): Set<string> {
  const options = (fieldText(headers, 'connection') ?? '').split(',')
  return new Set(options.map((option) => trimmed(option).toLowerCase()))
}

/** The stored head after a 304: its fields, and those of the 304 that do not describe the body. */
export function mergedHeaders(stored: HeaderObject, answer: ResponseFacts): HeaderObject {
  const { headers: received, responseTime } = answer
  const merged: HeaderObject = { ...stored }
  const named = connectionOptions(received)
  for (const name of Object.keys(received)) {
    if (OF_THE_BODY.has(name) || (NOT_STORED.has(name) && name !== 'age') || named.has(name)) continue
    setOwn(merged, name, received[name]!)
  }
  // The age counts from this response, not from the one that brought the body.
  if (!hasField(received, 'date') && hasField(stored, 'date')) {
    const date = formatHttpDate(new Date(responseTime))
    if (date !== null) merged['date'] = date
  }
  return merged
}
