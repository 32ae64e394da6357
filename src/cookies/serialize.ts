/**
 * Writes a `Set-Cookie` value (RFC 6265bis §4.1.1). Every part is checked, those in `unparsed` included, so
 * that no value can add another attribute or header (CVE-2026-16729, CVE-2026-11525). No check can backtrack.
 */
import { formatHttpDate } from '../base/text/http-date.ts'
import { trimmed } from '../base/text/trimmed.ts'
import type { CookieRecord } from './cookie-record.ts'
import { ATTRIBUTES } from './parse.ts'

/** RFC 1035 §2.3.4. */
const MAX_DOMAIN_LENGTH = 255
/** RFC 1035 §2.3.1, and §2.3.4 for its length. */
const LABEL = /^(?!-)[0-9A-Za-z-]{1,63}(?<!-)$/
/** The member is a 64-bit integer. From here on the conversion would wrap and write another number. */
const MAX_AGE_LIMIT = 2 ** 63

/** Whatever is not a token character (RFC 9110 §5.6.2). */
const NOT_IN_NAME = /[^!#$%&'*+\-.0-9A-Z^_`a-z|~]/
/** Whatever is not a cookie-octet (RFC 6265bis §4.1.1). */
const NOT_IN_VALUE = /[^!#-+\--:<-[\]-~]/
const NOT_IN_PATH = /[^ -:<-~]/

/** The `Set-Cookie` value for a cookie, or null when it has no name and so nothing is to be written. */
export function serializeCookie(cookie: CookieRecord): string | null {
  if (cookie.name === '') return null
  checked('name', cookie.name, isName)
  checked('value', cookie.value, isValue)

  // RFC 6265bis §4.1.3: a receiver drops a cookie that does not meet the requirements of its prefix.
  const hostOnly = cookie.name.startsWith('__Host-')
  const secure = cookie.secure || hostOnly || cookie.name.startsWith('__Secure-')
  const domain = hostOnly ? null : cookie.domain
  const path = hostOnly ? '/' : cookie.path

  let text = `${cookie.name}=${cookie.value}`
  if (secure) text += '; Secure'
  if (cookie.httpOnly) text += '; HttpOnly'
  if (cookie.maxAge !== null) text += `; Max-Age=${checked('max-age', cookie.maxAge, isAge)}`
  if (domain) text += `; Domain=${checked('domain', domain, isDomain)}`
  if (path) text += `; Path=${checked('path', path, isPath)}`
  if (cookie.expires !== null)
    text += `; Expires=${checked('expires', formatHttpDate(cookie.expires), Boolean)}`
  if (cookie.sameSite !== null) text += `; SameSite=${cookie.sameSite}`
  for (const item of cookie.unparsed) text += `; ${unparsedText(item)}`
  return text
}

function checked<T>(part: string, value: T, isValid: (value: T) => boolean): T {
  if (!isValid(value)) throw new Error(`Invalid cookie ${part}`)
  return value
}

const isName = (name: string): boolean => !NOT_IN_NAME.test(name)
const isPath = (path: string): boolean => !NOT_IN_PATH.test(path)
const isAge = (seconds: number): boolean => seconds >= 0 && seconds < MAX_AGE_LIMIT

function isValue(value: string): boolean {
  const quoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"')
  return !NOT_IN_VALUE.test(quoted ? value.slice(1, -1) : value)
}

/** A single space is a valid domain (RFC 1034 §3.5, `<domain> ::= <subdomain> | " "`). */
function isDomain(domain: string): boolean {
  const isShort = domain.length <= MAX_DOMAIN_LENGTH
  return domain === ' ' || (isShort && domain.split('.').every((label) => LABEL.test(label)))
}

/**
 * Rejects an attribute that has a field. In `unparsed` it would bypass the check of that field, and could
 * break the promise of a name prefix.
 */
function unparsedText(item: string): string {
  const equals = item.indexOf('=')
  if (equals === -1) throw new Error('Invalid unparsed')
  const key = checked('name', trimmed(item.slice(0, equals)), isName)
  const value = checked('value', item.slice(equals + 1), isValue)
  if (ATTRIBUTES.has(key.toLowerCase())) throw new Error('Invalid unparsed')
  return `${key}=${value}`
}
