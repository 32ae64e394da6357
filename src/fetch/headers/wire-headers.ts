/**
 * The header fields of a request, as the dispatcher gets them: the caller's fields, then those of the
 * standard that the caller did not set. The order is always the same, because dispatchers remember the lists
 * they have seen.
 */

import { getGlobalOrigin } from '../../base/address/global-origin.ts'
import { setOwn } from '../../base/object/own-record.ts'
import type { RequestMode } from '../declared-classes.ts'
import type { RequestRecord } from '../init.ts'
import type { Trail } from '../run/redirect.ts'
import type { UrlParts } from '../url/url-parts.ts'
import { referrerOf } from './referrer.ts'

export type WireHeaders = Record<string, string | string[]>

/** The value of the `user-agent` field. */
const USER_AGENT = 'ventuno'

/** Node 20 and early versions of Node 22 cannot decode zstd. */
const SECURE_CODINGS = `br, gzip, deflate${process.versions['zstd'] === undefined ? '' : ', zstd'}`

function codingsFor(protocol: string): string {
  return protocol === 'http:' ? 'gzip, deflate' : SECURE_CODINGS
}

/** The fields of most requests. Literals: an object that grows field by field takes twice the memory. */
function plainHeaders(mode: RequestMode, { protocol, isTrustworthy }: UrlParts): WireHeaders {
  if (!isTrustworthy) {
    return {
      accept: '*/*',
      'accept-language': '*',
      'user-agent': USER_AGENT,
      'accept-encoding': codingsFor(protocol),
    }
  }
  return {
    accept: '*/*',
    'accept-language': '*',
    'sec-fetch-mode': mode,
    'user-agent': USER_AGENT,
    'accept-encoding': codingsFor(protocol),
  }
}

/** They send the origin even to a server without TLS. */
const TELLING_POLICIES: ReadonlySet<string> = new Set(['origin', 'origin-when-cross-origin', 'unsafe-url'])

const CONDITIONAL = new Set([
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'if-match',
  'if-range',
])

export function wireHeaders(record: RequestRecord, trail: Trail | null): WireHeaders {
  const { headers: list, mode, url, cache } = record
  const client = getGlobalOrigin()
  const hasReferrer = client !== undefined || typeof record.referrer === 'object'
  if (list.isEmpty && !hasReferrer && cache === 'default') return plainHeaders(mode, url)
  const headers: WireHeaders = {}
  let isConditional = false
  list.forEach((name, lower, value) => {
    if (CONDITIONAL.has(lower)) isConditional = cache === 'default'
    if (lower === 'host' || lower === 'sec-fetch-mode') return
    // Programs that forward the fields of another request may leave it in, but this request has no body.
    if (lower === 'content-length' && record.body === null) return
    setOwn(headers, name, value)
  })
  if (!list.has('accept')) headers['accept'] = '*/*'
  if (!list.has('accept-language')) headers['accept-language'] = '*'
  if (hasReferrer) {
    const referrer = list.has('referer') ? '' : referrerOf(record, client)
    if (referrer !== '') headers['referer'] = referrer
    const origin = list.has('origin') ? null : originOf(record, trail, client)
    if (origin !== null) headers['origin'] = origin
  }
  // W3C Fetch Metadata §3: only for URLs that nobody can change on the way.
  if (url.isTrustworthy) headers['sec-fetch-mode'] = mode
  if (!list.has('user-agent')) headers['user-agent'] = USER_AGENT
  if (cache === 'no-store' || cache === 'reload' || isConditional) {
    if (!list.has('pragma')) headers['pragma'] = 'no-cache'
    if (!list.has('cache-control')) headers['cache-control'] = 'no-cache'
  } else if (cache === 'no-cache' && !list.has('cache-control')) {
    headers['cache-control'] = 'max-age=0'
  }
  if (!list.has('accept-encoding')) {
    headers['accept-encoding'] = list.has('range') ? 'identity' : codingsFor(url.protocol)
  }
  return headers
}

/** The `origin` field; null for none. The global origin is the origin that makes the request. */
function originOf(record: RequestRecord, trail: Trail | null, client: URL | undefined): string | null {
  if (client === undefined) return null
  const { method, referrerPolicy, url } = record
  const origin = trail?.isTainted === true ? 'null' : client.origin
  if (trail?.isForeign === true) return origin
  if (method === 'GET' || method === 'HEAD') return null
  if (referrerPolicy === 'no-referrer') return 'null'
  if (referrerPolicy === 'same-origin') return client.origin === url.origin ? origin : 'null'
  if (TELLING_POLICIES.has(referrerPolicy)) return origin
  return client.protocol === 'https:' && url.protocol !== 'https:' ? 'null' : origin
}
