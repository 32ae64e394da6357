/** What a request tells of where it came from (W3C Referrer Policy). */

const POLICIES = [
  'no-referrer',
  'no-referrer-when-downgrade',
  'same-origin',
  'origin',
  'strict-origin',
  'origin-when-cross-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
] as const

/** How much of the referrer is told, and to whom. */
export type ReferrerPolicy = (typeof POLICIES)[number]

/** A longer one is told as an origin. */
const MAX_LENGTH = 4096

/** What comes from where, and where it goes. */
export interface ReferrerTerms {
  /** Where the request comes from. */
  readonly referrer: URL
  readonly policy: ReferrerPolicy
  /** Where this hop goes. */
  readonly current: URL
}

/** What goes to the wire as `referer`; empty for nothing. */
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

/** The last policy of the list that is known; empty for none. */
export function parseReferrerPolicy(headerValue: string): ReferrerPolicy | '' {
  let policy: ReferrerPolicy | '' = ''
  for (const item of headerValue.split(',')) {
    const token = item.trim().toLowerCase()
    if ((POLICIES as readonly string[]).includes(token)) policy = token as ReferrerPolicy
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

/** What nobody on the way can read or change; this machine counts (W3C Secure Contexts). */
function isTrustworthy({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true
  return hostname === '[::1]' || /^127\.|^localhost$|\.localhost$/.test(hostname)
}
