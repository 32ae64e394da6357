// Parses `Cookie` and `Set-Cookie` values (RFC 6265bis §5.6). Does not know the Headers object, and leaves it
// to the caller to decide whether a cookie may be stored. Each value is walked once, piece by piece, and
// searched only within the current piece, so the cost is linear in its length whatever a peer sends. Nothing
// is percent-decoded: decoded octets could form a new header when they are written again (CVE-2026-9679).
import { type Cookie, trimWhitespace } from './cookie.ts'
import { parseCookieDate } from './cookie-date.ts'

/** RFC 6265bis §5.6: name and value together; more and the cookie is not a cookie. */
const MAX_NAME_AND_VALUE_LENGTH = 4096
/** RFC 6265bis §5.6: an attribute with a longer value counts as absent. */
const MAX_ATTRIBUTE_VALUE_LENGTH = 1024

/** Whatever is a control character other than a tab. */
const CONTROL = /[^\t\x20-\x7e\x80-\uffff]/
/** `Number` alone would take `+1`, `1e3`, `0x10` and the empty text. */
const INTEGER = /^-?[0-9]+$/

const SAME_SITES: ReadonlyMap<string, NonNullable<Cookie['sameSite']>> = new Map([
  ['strict', 'Strict'],
  ['lax', 'Lax'],
  ['none', 'None'],
])

/** The pairs of a `Cookie` value; of two with one name the later stays. */
export function parseCookieHeader(text: string): Record<string, string> {
  const pairs = new Map<string, string>()
  for (let start = 0; start <= text.length; ) {
    const end = pieceEnd(text, start)
    const piece = text.slice(start, end)
    const equals = piece.indexOf('=')
    if (equals === -1) pairs.set(trimWhitespace(piece), '')
    else pairs.set(trimWhitespace(piece.slice(0, equals)), piece.slice(equals + 1))
    start = end + 1
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

  let end = pieceEnd(text, 0)
  const pair = text.slice(0, end)
  const equals = pair.indexOf('=')
  const name = trimWhitespace(pair.slice(0, Math.max(equals, 0)))
  const value = trimWhitespace(pair.slice(equals + 1))
  if (name.length + value.length > MAX_NAME_AND_VALUE_LENGTH) return null

  const cookie: Cookie = { name, value }
  while (end < text.length) {
    const start = end + 1
    end = pieceEnd(text, start)
    readAttribute(cookie, text.slice(start, end), defaultPath)
  }
  return cookie
}

function readAttribute(cookie: Cookie, item: string, defaultPath: string): void {
  const equals = item.indexOf('=')
  const name = trimWhitespace(equals === -1 ? item : item.slice(0, equals))
  const value = equals === -1 ? '' : trimWhitespace(item.slice(equals + 1))
  if (value.length > MAX_ATTRIBUTE_VALUE_LENGTH) return

  switch (name.toLowerCase()) {
    case 'expires': {
      const date = parseCookieDate(value)
      if (date !== null) cookie.expires = date
      break
    }
    case 'max-age':
      if (INTEGER.test(value)) cookie.maxAge = Number(value)
      break
    case 'domain':
      cookie.domain = lowerCaseAscii(value.startsWith('.') ? value.slice(1) : value)
      break
    case 'path':
      cookie.path = value.startsWith('/') ? value : defaultPath
      break
    case 'secure':
      cookie.secure = true
      break
    case 'httponly':
      cookie.httpOnly = true
      break
    case 'samesite': {
      const sameSite = SAME_SITES.get(value.toLowerCase())
      if (sameSite !== undefined) cookie.sameSite = sameSite
      break
    }
    default:
      cookie.unparsed ??= []
      cookie.unparsed.push(`${name}=${value}`)
  }
}

function pieceEnd(text: string, start: number): number {
  const semicolon = text.indexOf(';', start)
  return semicolon === -1 ? text.length : semicolon
}

/** ASCII only: full case mapping turns U+212A, the Kelvin sign, into a `k`, and one domain into another. */
function lowerCaseAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
