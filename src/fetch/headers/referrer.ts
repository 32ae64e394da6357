/** How much a request reveals about where it comes from (W3C Referrer Policy). */
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

/** The input of the referrer algorithm. */
export interface ReferrerTerms {
  /** Where the request comes from. */
  readonly referrer: URL
  readonly policy: Exclude<ReferrerPolicy, ''>
  /** The URL of the current request. */
  readonly current: URL
}

/** A request, as far as its referrer is concerned. */
export interface ReferringRequest {
  /** A URL, or one of the two keywords. */
  readonly referrer: 'client' | 'no-referrer' | URL
  /** Empty for the default. */
  readonly referrerPolicy: ReferrerPolicy
  readonly url: { readonly url: URL }
}

/**
 * What the server of a request is told; empty for nothing. `client` is the global origin.
 */
export function referrerOf(request: ReferringRequest, client: URL | undefined): string {
  const { referrer, referrerPolicy, url } = request
  if (referrer === 'no-referrer') return ''
  const source = referrer === 'client' ? client : referrer
  if (source === undefined) return ''
  return determineReferrer({
    referrer: source,
    policy: referrerPolicy === '' ? 'strict-origin-when-cross-origin' : referrerPolicy,
    current: url.url,
  })
}

/**
 * The referrer of the request that follows this one (Fetch, main fetch): all that this one's server was told.
 * Otherwise the policy of a redirect could disclose to the next server what the caller's policy kept from the
 * first.
 */
export function reducedReferrer(request: ReferringRequest, client: URL | undefined): 'no-referrer' | URL {
  const told = referrerOf(request, client)
  return told === '' ? 'no-referrer' : new URL(told)
}

/** The value of the `referer` field; empty if there is none to send. */
export function determineReferrer({ referrer, policy, current }: ReferrerTerms): string {
  if (referrer.protocol !== 'http:' && referrer.protocol !== 'https:') return ''
  const whole = withoutSecrets(referrer)
  const origin = `${referrer.origin}/`
  const full = whole.length > MAX_LENGTH ? origin : whole
  const isSameOrigin = referrer.origin === current.origin
  const isDowngrade = isTrustworthy(referrer) && !isTrustworthy(current)
  switch (policy) {
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
    case 'strict-origin-when-cross-origin':
      if (isSameOrigin) return full
      return isDowngrade ? '' : origin
    case 'unsafe-url':
      return full
  }
}

/** The last known policy in the list; empty if there is none. */
export function parseReferrerPolicy(headerValue: string): ReferrerPolicy {
  let policy: ReferrerPolicy = ''
  for (const item of headerValue.split(',')) {
    const token = item.trim().toLowerCase()
    if ((REFERRER_POLICIES as readonly string[]).includes(token)) policy = token as ReferrerPolicy
  }
  return policy
}

function withoutSecrets(url: URL): string {
  const copy = new URL(url)
  copy.username = ''
  copy.password = ''
  copy.hash = ''
  return copy.href
}
