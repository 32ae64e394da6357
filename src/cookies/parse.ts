/**
 * Parses `Cookie` and `Set-Cookie` values (RFC 6265bis §5.6), in time that is linear in their length. Whether
 * a cookie may be stored is the caller's decision. Nothing is percent-decoded: decoded octets could form a
 * new header when they are written again (CVE-2026-9679).
 */
import { trimmed } from '../base/text/trimmed.ts'
import { type Cookie, SAME_SITES } from './cookie.ts'
import { parseCookieDate } from './cookie-date.ts'

/** RFC 6265bis §5.6: what is longer, name and value together, is not a cookie. */
export const MAX_NAME_AND_VALUE_LENGTH = 4096
/** RFC 6265bis §5.6: an attribute with a longer value counts as absent. */
const MAX_ATTRIBUTE_VALUE_LENGTH = 1024

/** Whatever is a control character other than a tab. */
const CONTROL = /[^\t\x20-\x7e\x80-\uffff]/
/** `Number` alone would take `+1`, `1e3`, `0x10` and the empty text. */
const INTEGER = /^-?[0-9]+$/

/** How an attribute is read: its field, and the value of that field; null for a value that does not count. */
interface Attribute {
  readonly field: keyof Cookie
  readonly read: (value: string, defaultPath: string) => Cookie[keyof Cookie] | null
}

/** By name in lower case. These never end up in `unparsed`. */
export const ATTRIBUTES: ReadonlyMap<string, Attribute> = new Map<string, Attribute>([
  ['expires', { field: 'expires', read: parseCookieDate }],
  ['max-age', { field: 'maxAge', read: (value) => (INTEGER.test(value) ? Number(value) : null) }],
  ['domain', { field: 'domain', read: readDomain }],
  ['path', { field: 'path', read: (value, defaultPath) => (value.startsWith('/') ? value : defaultPath) }],
  ['secure', { field: 'secure', read: () => true }],
  ['httponly', { field: 'httpOnly', read: () => true }],
  ['samesite', { field: 'sameSite', read: readSameSite }],
])

/** The pairs of a `Cookie` value; of two with one name the later stays. */
export function parseCookieHeader(text: string): Record<string, string> {
  const pairs = new Map<string, string>()
  for (const piece of text.split(';')) {
    const equals = piece.indexOf('=')
    const name = equals === -1 ? piece : piece.slice(0, equals)
    pairs.set(trimmed(name), equals === -1 ? '' : piece.slice(equals + 1))
  }
  // Defines properties, never assigns them: a cookie called `__proto__` becomes a property like any other.
  return Object.fromEntries(pairs)
}

/**
 * One `Set-Cookie` value, or null when it holds a control character or is too long. A path that is not
 * absolute counts as `defaultPath`.
 */
export function parseSetCookie(text: string, defaultPath = '/'): Cookie | null {
  if (CONTROL.test(text)) return null
  const [pair = '', ...items] = text.split(';')
  // Without an equals sign, all of it is the value.
  const equals = pair.indexOf('=')
  const name = trimmed(pair.slice(0, Math.max(equals, 0)))
  const value = trimmed(pair.slice(equals + 1))
  if (name.length + value.length > MAX_NAME_AND_VALUE_LENGTH) return null
  const cookie: Cookie = { name, value }
  for (const item of items) readAttribute(cookie, item, defaultPath)
  return cookie
}

function readAttribute(cookie: Cookie, item: string, defaultPath: string): void {
  const equals = item.indexOf('=')
  const name = trimmed(equals === -1 ? item : item.slice(0, equals))
  const value = equals === -1 ? '' : trimmed(item.slice(equals + 1))
  if (value.length > MAX_ATTRIBUTE_VALUE_LENGTH) return
  const attribute = ATTRIBUTES.get(name.toLowerCase())
  if (attribute === undefined) {
    cookie.unparsed ??= []
    cookie.unparsed.push(`${name}=${value}`)
    return
  }
  const read = attribute.read(value, defaultPath)
  if (read !== null) (cookie as Partial<Record<keyof Cookie, unknown>>)[attribute.field] = read
}

function readSameSite(value: string): Cookie['sameSite'] | null {
  return SAME_SITES.find((one) => one.toLowerCase() === value.toLowerCase()) ?? null
}

/** ASCII only: full case mapping turns U+212A, the Kelvin sign, into a `k`, and one domain into another. */
function readDomain(value: string): string {
  return value.replace(/^\./, '').replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
