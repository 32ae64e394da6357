/**
 * The header fields of a request, as the dispatcher gets them: the caller's fields, then those of the standard that
 * the caller did not set. The order is always the same, because dispatchers remember the lists they have seen.
 */

import { getGlobalOrigin } from '../../base/global-origin.ts'
import { setOwn } from '../../base/own-record.ts'
import type { RequestMode } from '../declared-classes.ts'
import type { RequestRecord } from '../init.ts'
import type { Trail } from '../run/redirect.ts'
import type { UrlParts } from '../url/url-parts.ts'
import { referrerOf } from './referrer.ts'

export type WireHeaders = Record<string, string | string[]>

/** The value of the `user-agent` field. */
const USER_AGENT = 'ventuno'

/** Without zstd: Node 20 and early versions of Node 22 cannot decode it. */
const CODINGS = 'br, gzip, deflate'
let secureCodings: string | null = null

function codingsFor(protocol: string): string {
  if (protocol === 'http:') return 'gzip, deflate'
  // Not at import: reading the versions is quick, but not every program needs them.
  secureCodings ??= process.versions['zstd'] === undefined ? CODINGS : `${CODINGS}, zstd`
  return secureCodings
}

/** The fields of most requests. */
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

/** Caller's fields that replace or affect ours, as bits of one number. */
const ACCEPT = 1
const ACCEPT_LANGUAGE = 2
const REFERER = 4
const ORIGIN = 8
const SEC_FETCH_MODE = 16
const USER_AGENT_FIELD = 32
const PRAGMA = 64
const CACHE_CONTROL = 128
const ACCEPT_ENCODING = 256
const RANGE = 512
const CONDITIONAL = 1024
const HOST = 2048
const CONTENT_LENGTH = 4096

const KNOWN: ReadonlyMap<string, number> = new Map([
  ['accept', ACCEPT],
  ['accept-language', ACCEPT_LANGUAGE],
  ['referer', REFERER],
  ['origin', ORIGIN],
  ['sec-fetch-mode', SEC_FETCH_MODE],
  ['user-agent', USER_AGENT_FIELD],
  ['pragma', PRAGMA],
  ['cache-control', CACHE_CONTROL],
  ['accept-encoding', ACCEPT_ENCODING],
  ['range', RANGE],
  ['host', HOST],
  ['content-length', CONTENT_LENGTH],
  ['if-modified-since', CONDITIONAL],
  ['if-none-match', CONDITIONAL],
  ['if-unmodified-since', CONDITIONAL],
  ['if-match', CONDITIONAL],
  ['if-range', CONDITIONAL],
])

export function wireHeaders(record: RequestRecord, trail: Trail | null): WireHeaders {
  const { headers: list, mode, url, cache } = record
  const client = getGlobalOrigin()
  const hasReferrer = client !== undefined || typeof record.referrer === 'object'
  if (list.isEmpty && !hasReferrer && cache === 'default') return plainHeaders(mode, url)
  const headers: WireHeaders = {}
  let given = 0
  list.forEach((name, lower, value) => {
    const bit = KNOWN.get(lower) ?? 0
    given |= bit
    if (bit === HOST || bit === SEC_FETCH_MODE) return
    // Programs that pass on the fields of another request leave it in. There is nothing that it could be the length of.
    if (bit === CONTENT_LENGTH && record.body === null) return
    setOwn(headers, name, value)
  })
  if ((given & ACCEPT) === 0) headers['accept'] = '*/*'
  if ((given & ACCEPT_LANGUAGE) === 0) headers['accept-language'] = '*'
  if (hasReferrer) {
    const referrer = (given & REFERER) === 0 ? referrerOf(record, client) : ''
    if (referrer !== '') headers['referer'] = referrer
    const origin = (given & ORIGIN) === 0 ? originOf(record, trail, client) : null
    if (origin !== null) headers['origin'] = origin
  }
  // W3C Fetch Metadata §3: what others can read and change on its way is not worth a server's trust.
  if (url.isTrustworthy) headers['sec-fetch-mode'] = mode
  if ((given & USER_AGENT_FIELD) === 0) headers['user-agent'] = USER_AGENT
  if (cache === 'no-store' || cache === 'reload' || (cache === 'default' && (given & CONDITIONAL) !== 0)) {
    if ((given & PRAGMA) === 0) headers['pragma'] = 'no-cache'
    if ((given & CACHE_CONTROL) === 0) headers['cache-control'] = 'no-cache'
  } else if (cache === 'no-cache' && (given & CACHE_CONTROL) === 0) {
    headers['cache-control'] = 'max-age=0'
  }
  if ((given & ACCEPT_ENCODING) === 0) {
    headers['accept-encoding'] = (given & RANGE) === 0 ? codingsFor(url.protocol) : 'identity'
  }
  return headers
}

/** The origin that the request is made for, if it is known: the global origin. */
function originOf(record: RequestRecord, trail: Trail | null, client: URL | undefined): string | null {
  if (client === undefined) return null
  const { method, referrerPolicy, url } = record
  const origin = trail?.isTainted === true ? 'null' : client.origin
  if (trail?.isForeign === true) return origin
  if (method === 'GET' || method === 'HEAD') return null
  switch (referrerPolicy) {
    case 'no-referrer':
      return 'null'
    case 'same-origin':
      return client.origin === url.origin ? origin : 'null'
    case 'no-referrer-when-downgrade':
    case 'strict-origin':
    case 'strict-origin-when-cross-origin':
    case '':
      return client.protocol === 'https:' && url.protocol !== 'https:' ? 'null' : origin
    default:
      return origin
  }
}
