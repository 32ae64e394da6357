// Owns the writing of a `Set-Cookie` value (RFC 6265bis §4.1.1). Every part that is written passes its check
// here, the leftovers in `unparsed` included, so that no value can smuggle in a further attribute or header
// (CVE-2026-16729, CVE-2026-11525). The checks look for one character that may not be there: no backtracking.
import { formatHttpDate } from '../base/text/http-date.ts'
import { ATTRIBUTE_NAMES, trimWhitespace } from './cookie.ts'
import type { CookieRecord } from './cookie-record.ts'

/** RFC 1035 §2.3.4 (size limits), for a whole name and for one label. */
const MAX_DOMAIN_LENGTH = 255
const MAX_LABEL_LENGTH = 63
/** The member is a 64-bit integer. From here on the conversion would wrap and write another number. */
const MAX_AGE_LIMIT = 2 ** 63

/** Whatever is not a token character (RFC 9110 §5.6.2). */
const NOT_IN_NAME = /[^!#$%&'*+\-.0-9A-Z^_`a-z|~]/
/** Whatever is not a cookie-octet (RFC 6265bis §4.1.1). */
const NOT_IN_VALUE = /[^!#-+\--:<-[\]-~]/
const NOT_IN_PATH = /[^ -:<-~]/
const NOT_IN_LABEL = /[^0-9A-Za-z-]/

/** The `Set-Cookie` value for a cookie, or null when it has no name and so nothing is to be written. */
export function serializeCookie(cookie: CookieRecord): string | null {
  if (cookie.name === '') return null
  checkName(cookie.name)
  checkValue(cookie.value)

  // RFC 6265bis §4.1.3: a receiver drops a cookie that does not meet the requirements of its prefix.
  const hostOnly = cookie.name.startsWith('__Host-')
  const secure = cookie.secure || hostOnly || cookie.name.startsWith('__Secure-')
  const domain = hostOnly ? null : cookie.domain
  const path = hostOnly ? '/' : cookie.path

  let text = `${cookie.name}=${cookie.value}`
  if (secure) text += '; Secure'
  if (cookie.httpOnly) text += '; HttpOnly'
  if (cookie.maxAge !== null) text += `; Max-Age=${checkMaxAge(cookie.maxAge)}`
  if (domain) text += `; Domain=${checkDomain(domain)}`
  if (path) text += `; Path=${checkPath(path)}`
  if (cookie.expires !== null) text += `; Expires=${expiresText(cookie.expires)}`
  if (cookie.sameSite !== null) text += `; SameSite=${cookie.sameSite}`
  for (const item of cookie.unparsed) text += `; ${unparsedText(item)}`
  return text
}

function checkName(name: string): void {
  if (NOT_IN_NAME.test(name)) throw new Error('Invalid cookie name')
}

function checkValue(value: string): void {
  const quoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"')
  if (NOT_IN_VALUE.test(quoted ? value.slice(1, -1) : value)) throw new Error('Invalid cookie value')
}

function checkMaxAge(seconds: number): number {
  if (seconds < 0 || seconds >= MAX_AGE_LIMIT) throw new Error('Invalid cookie max-age')
  return seconds
}

/** A single space is a valid domain (RFC 1034 §3.5, `<domain> ::= <subdomain> | " "`). */
function checkDomain(domain: string): string {
  if (domain === ' ') return domain
  if (domain.length > MAX_DOMAIN_LENGTH || !domain.split('.').every(isLabel)) {
    throw new Error('Invalid cookie domain')
  }
  return domain
}

function isLabel(label: string): boolean {
  if (label === '' || label.length > MAX_LABEL_LENGTH) return false
  return !label.startsWith('-') && !label.endsWith('-') && !NOT_IN_LABEL.test(label)
}

function checkPath(path: string): string {
  if (NOT_IN_PATH.test(path)) throw new Error('Invalid cookie path')
  return path
}

function expiresText(date: Date): string {
  const text = formatHttpDate(date)
  if (text === null) throw new Error('Invalid cookie expires')
  return text
}

/**
 * Rejects an attribute that has a field. In `unparsed` it would bypass the check of that field, and could
 * break the promise of a name prefix.
 */
function unparsedText(item: string): string {
  const equals = item.indexOf('=')
  if (equals === -1) throw new Error('Invalid unparsed')
  const key = trimWhitespace(item.slice(0, equals))
  const value = item.slice(equals + 1)
  checkName(key)
  checkValue(value)
  if (ATTRIBUTE_NAMES.has(key.toLowerCase())) throw new Error('Invalid unparsed')
  return `${key}=${value}`
}
