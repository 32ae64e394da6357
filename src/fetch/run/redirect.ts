/** Where a redirect leads, and how it changes the request. */

import { getGlobalOrigin } from '../../base/address/global-origin.ts'
import { parseUrl } from '../../base/address/parse-url.ts'
import type { Timings } from '../../errors.ts'
import { Body } from '../body/body.ts'
import type { HeaderList } from '../headers/header-list.ts'
import { parseReferrerPolicy, reducedReferrer } from '../headers/referrer.ts'
import type { RequestRecord } from '../init.ts'
import { UrlParts } from '../url/url-parts.ts'

export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const MAX_REDIRECTS = 20

/** Fields that describe a body, removed when the body is no longer sent. */
const CONTENT_FIELDS = [
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
]

/** Fields meant for one origin only. */
const CREDENTIAL_FIELDS = ['authorization', 'proxy-authorization', 'cookie', 'host']

const BEYOND_ASCII = /[^\0-\x7e]/

/** What is known about the requests that led to a request. */
export class Trail {
  readonly first: UrlParts
  count = 0
  /** A redirect led to another origin than the first one. Stays true if a later one leads back. */
  isForeign = false
  /** The request went from one foreign origin to another, which must not learn where it began. */
  isTainted = false
  /**
   * The last request is being repeated, because its server answered that the first try used the wrong
   * connection.
   */
  isSecondTry = false
  /** When the first request, and with it the first redirect, began, and when the last redirect ended. */
  startTime = 0
  redirectEnd = 0

  constructor(first: UrlParts) {
    this.first = first
  }

  /** Records the times of a request that was redirected. */
  time(timings: Timings | undefined): void {
    if (timings === undefined) return
    const { queued, firstByte } = timings
    if (this.startTime === 0) this.startTime = queued
    this.redirectEnd = firstByte ?? queued
  }
}

export interface NextHop {
  readonly record: RequestRecord
  readonly trail: Trail
}

/**
 * Null if there is no redirect to follow: the caller gets this response. Throws if it must not be followed.
 */
export function nextHop(
  record: RequestRecord,
  trailSoFar: Trail | null,
  status: number,
  headers: HeaderList,
): NextHop | null {
  const origin = record.body?.origin ?? null
  const location = headers.get('location')
  if (record.redirect === 'error') throw new Error('unexpected redirect')
  if (record.redirect === 'manual' || location === null) return null
  const target = targetOf(location, record.url)
  if (!target.isHttp) throw new Error('URL scheme must be a HTTP(S) scheme')
  const trail = trailSoFar ?? new Trail(record.url)
  if (trail.count === MAX_REDIRECTS) throw new Error('redirect count exceeded')
  const leaves = target.origin !== record.url.origin
  const isForeign = target.origin !== trail.first.origin
  if (isForeign && record.mode === 'same-origin') throw new Error('request mode cannot be "same-origin"')
  const client = getGlobalOrigin()
  if (target.hasCredentials && record.mode === 'cors') {
    // Without a global origin, the request has no origin that could be that of the target.
    if (client?.origin !== target.origin) throw new Error('cross origin not allowed for request mode "cors"')
    if (trail.isForeign || client.origin !== record.url.origin) {
      throw new Error('URL cannot contain credentials for request mode "cors"')
    }
  }
  if (status !== 303 && record.body !== null && origin === null) {
    throw new Error('a body that is a stream cannot be sent a second time')
  }
  trail.count++
  trail.isSecondTry = false
  if (leaves && client?.origin !== record.url.origin) trail.isTainted = true
  if (isForeign) trail.isForeign = true

  const next: RequestRecord = { ...record, url: target, headers: record.headers.copy() }
  next.referrer = reducedReferrer(record, client)
  const { method } = record
  const becomesGet =
    ((status === 301 || status === 302) && method === 'POST') ||
    (status === 303 && method !== 'GET' && method !== 'HEAD')
  if (becomesGet) {
    next.method = 'GET'
    next.body = null
    for (const name of CONTENT_FIELDS) next.headers.delete(name)
  } else if (origin !== null) {
    next.body = new Body(origin)
  }
  if (leaves) for (const name of CREDENTIAL_FIELDS) next.headers.delete(name)
  const policy = headers.get('referrer-policy')
  if (policy !== null) next.referrerPolicy = parseReferrerPolicy(policy) || next.referrerPolicy
  return { record: next, trail }
}

/**
 * A location is a sequence of bytes. Bytes outside ASCII are decoded as UTF-8, which is what servers send.
 */
function targetOf(location: string, current: UrlParts): UrlParts {
  const text = BEYOND_ASCII.test(location) ? Buffer.from(location, 'latin1').toString() : location
  const url = parseUrl(text, current.url)
  if (url.hash === '' && !text.includes('#')) url.hash = current.fragment
  return new UrlParts(url)
}
