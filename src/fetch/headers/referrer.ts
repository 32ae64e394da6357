/** How much a request reveals about where it comes from (W3C Referrer Policy). */
import { withoutCredentials } from '../../base/address/basic-credentials.ts'
import { isTrustworthy } from '../../base/address/trustworthy.ts'

export const REFERRER_POLICIES = [
  'no-referrer',
  'no-referrer-when-downgrade',
  'same-origin',
  'origin',
  'strict-origin',
  'origin-when-cross-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
] as const

/** How much of the referrer is sent, and to which origins. */
export type ReferrerPolicy = (typeof REFERRER_POLICIES)[number] | ''

/** A longer referrer is reduced to its origin. */
const MAX_LENGTH = 4096

/** Where a request comes from: a URL, or one of the two keywords. */
export type Referrer = 'client' | 'no-referrer' | URL

/** A request, as far as its referrer is concerned. */
export interface ReferringRequest {
  readonly referrer: Referrer
  /** Empty for the default. */
  readonly referrerPolicy: ReferrerPolicy
  readonly url: { readonly url: URL }
}

/** The value of the `referer` field; empty if there is none to send. `client` is the global origin. */
export function referrerOf(request: ReferringRequest, client: URL | undefined): string {
  const current = request.url.url
  const referrer = request.referrer === 'client' ? client : request.referrer
  if (referrer === undefined || referrer === 'no-referrer') return ''
  if (referrer.protocol !== 'http:' && referrer.protocol !== 'https:') return ''
  const whole = withoutCredentials(referrer).href.replace(/#.*/, '')
  const origin = `${referrer.origin}/`
  const full = whole.length > MAX_LENGTH ? origin : whole
  const isSameOrigin = referrer.origin === current.origin
  const isDowngrade = isTrustworthy(referrer) && !isTrustworthy(current)
  switch (request.referrerPolicy) {
    case 'no-referrer':
      return ''
    case 'no-referrer-when-downgrade':
      return isDowngrade ? '' : full
    case 'same-origin':
      return isSameOrigin ? full : ''
    case 'origin':
      return origin
    case 'strict-origin':
      return isDowngrade ? '' : origin
    case 'origin-when-cross-origin':
      return isSameOrigin ? full : origin
    case 'unsafe-url':
      return full
    // The default is `strict-origin-when-cross-origin`.
    default:
      if (isSameOrigin) return full
      return isDowngrade ? '' : origin
  }
}

/**
 * The referrer of the next request after a redirect (Fetch, main fetch): what this request's server was told.
 * Otherwise the policy of a redirect could disclose to the next server what the caller's policy withheld from
 * this one.
 */
export function reducedReferrer(request: ReferringRequest, client: URL | undefined): 'no-referrer' | URL {
  const told = referrerOf(request, client)
  return told === '' ? 'no-referrer' : new URL(told)
}

/** The last known policy in the list; empty if there is none. */
export function parseReferrerPolicy(headerValue: string): ReferrerPolicy {
  const known = REFERRER_POLICIES as readonly string[]
  const tokens = headerValue.split(',').map((item) => item.trim().toLowerCase())
  return (tokens.findLast((token) => known.includes(token)) ?? '') as ReferrerPolicy
}
