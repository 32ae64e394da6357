/**
 * Whether a cookie may be stored (RFC 6265bis §5.7), as far as that does not depend on other cookies. Servers
 * write cookies: a refusal is a null, never an exception.
 */
import type { CookieRecord } from '../cookie-record.ts'
import { MAX_NAME_AND_VALUE_LENGTH } from '../parse.ts'
import { domainMatches, isAddress, isDomain } from './host.ts'
import { isCookieText, MAX_AGE } from './limits.ts'
import type { JarSettings, RequestContext } from './options.ts'
import type { StoredCookie } from './stored-cookie.ts'

/** Where a cookie is to be sent, or where it comes from. */
export interface CookieTarget {
  readonly host: string
  readonly path: string
  /** Whether no one can listen: TLS, or the connection does not leave this machine. */
  readonly isSecure: boolean
}

/** The cookie as the jar would keep it, or null if the target may not set it. */
export function admit(
  wanted: CookieRecord,
  target: CookieTarget,
  ownPath: string,
  context: RequestContext,
  settings: JarSettings,
  now: number,
): StoredCookie | null {
  const scope = scopeOf(wanted.domain ?? '', target.host, settings)
  if (scope === null) return null
  const { name, value, secure, httpOnly, sameSite } = wanted
  if (secure && !target.isSecure) return null
  if (httpOnly && !context.http) return null
  // §5.7: a request that another site caused must not set cookies that are for this site alone.
  if (sameSite !== 'None' && context.sameSiteContext === 'none') return null
  const cookie: StoredCookie = {
    name,
    value,
    ...scope,
    path: wanted.path ?? ownPath,
    secure,
    httpOnly,
    sameSite,
    expires: expiryOf(wanted, now),
    creationTime: now,
    lastAccessTime: now,
    order: 0,
  }
  return isSound(cookie) && keepsPrefix(cookie, wanted.path !== null) ? cookie : null
}

/** A cookie from a file, which has no request to be compared with; null if no server could have set it. */
export function readmit(cookie: StoredCookie, settings: JarSettings, now: number): StoredCookie | null {
  const { domain, hostOnly } = cookie
  if (!isHost(domain)) return null
  const isWide = !hostOnly && !isAddress(domain)
  if (isWide && (!isDomain(domain) || settings.isPublicSuffix(domain))) return null
  const expires = cookie.expires === null ? null : Math.min(cookie.expires, now + MAX_AGE)
  // Later than now, a cookie would never be the one that is evicted.
  const creationTime = Math.min(cookie.creationTime, now)
  const lastAccessTime = Math.min(cookie.lastAccessTime, now)
  const known: StoredCookie = { ...cookie, hostOnly: !isWide, expires, creationTime, lastAccessTime }
  return isSound(known) && known.path.startsWith('/') && keepsPrefix(known, true) ? known : null
}

/**
 * Labels of letters that `URL` leaves as they are, none of them a number or in Punycode: most hosts, and no
 * need to parse them.
 */
const PLAIN_HOST = /^(?!xn--)[a-z][a-z0-9-]{0,62}(?:\.(?!xn--)[a-z][a-z0-9-]{0,62}){0,9}$/

/** As `URL` writes a host. */
function isHost(text: string): boolean {
  if (PLAIN_HOST.test(text)) return true
  return URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text
}

type Scope = Pick<StoredCookie, 'domain' | 'hostOnly'>

function scopeOf(domain: string, host: string, settings: JarSettings): Scope | null {
  if (domain === '') return { domain: host, hostOnly: true }
  if (!isDomain(domain) || !domainMatches(host, domain)) return null
  // An address has no suffix to ask about.
  if (isAddress(host)) return { domain: host, hostOnly: true }
  // §5.7: a cookie for all of `com` would reach every site there; a site that is a suffix itself gets it
  // alone.
  if (settings.isPublicSuffix(domain)) return domain === host ? { domain: host, hostOnly: true } : null
  return { domain, hostOnly: false }
}

/** The rules for name, value, sizes and SameSite. */
function isSound({ name, value, path, secure, sameSite }: StoredCookie): boolean {
  if (!isCookieText(name) || name.includes('=') || !isCookieText(value)) return false
  if (name === '' && value === '') return false
  if (name.length + value.length > MAX_NAME_AND_VALUE_LENGTH) return false
  return !NOT_IN_PATH.test(path) && (sameSite !== 'None' || secure)
}

/** Control characters, and what is no byte: the path is written to files. */
const NOT_IN_PATH = /[^\x20-\x7e\x80-\xff]/

/**
 * §5.7: what the prefix of a name promises. Servers compare names in any letter case, so the letter case does
 * not matter here. A cookie without a name is sent as its value, which must not look like such a name.
 */
function keepsPrefix(cookie: StoredCookie, hasPath: boolean): boolean {
  const { name, secure, httpOnly, hostOnly, path } = cookie
  if (name === '') return !/^__(?:secure|host|http|host-http)-/i.test(cookie.value)
  if (!name.startsWith('__')) return true
  const prefix = name.slice(0, '__host-http-'.length).toLowerCase()
  if (prefix.startsWith('__secure-')) return secure
  if (prefix.startsWith('__http-')) return secure && httpOnly
  if (!prefix.startsWith('__host-')) return true
  const isOfHost = secure && hostOnly && hasPath && path === '/'
  return isOfHost && (prefix !== '__host-http-' || httpOnly)
}

/** §5.5: Max-Age counts before Expires. */
function expiryOf({ maxAge, expires }: CookieRecord, now: number): number | null {
  const time =
    maxAge === null ? expires?.getTime() : maxAge <= 0 ? Number.NEGATIVE_INFINITY : now + maxAge * 1000
  return time === undefined ? null : Math.min(time, now + MAX_AGE)
}
