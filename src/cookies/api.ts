/** The cookie functions on a Headers object. They keep nothing between calls: this is not a cookie jar. */
import { asString, illegalInvocation, requireArguments } from '../web/idl.ts'
import type { Cookie } from './cookie.ts'
import { toCookieRecord, toDeletionRecord } from './cookie-record.ts'
import { parseCookieHeader, parseSetCookie } from './parse.ts'
import { serializeCookie } from './serialize.ts'

/** The part of `Headers` that the functions use, of any class. */
export interface CookieHeaders {
  /** As in Headers. */
  append(name: string, value: string): void
  /** As in Headers. */
  get(name: string): string | null
  /** As in Headers. */
  getSetCookie(): string[]
  /** As in Headers. */
  has(name: string): boolean
}

/**
 * The cookies of the `Cookie` header, by name. Values are as received: not trimmed, unquoted or decoded.
 *
 * @example
 * getCookies(new Headers({ cookie: 'a=1; b=2' })) // { a: '1', b: '2' }
 */
export function getCookies(headers: CookieHeaders): Record<string, string> {
  // biome-ignore lint/complexity/noArguments: left out and given as undefined are different errors
  requireArguments(arguments.length, 1, 'getCookies')
  requireHeaders(headers)
  const text = headers.get('cookie')
  return text ? parseCookieHeader(text) : {}
}

/**
 * The cookies of all `Set-Cookie` headers, in their order. A header that `parseCookie` refuses leaves a
 * `null` at its place.
 *
 * @example
 * const headers = new Headers([['set-cookie', 'a=1; Secure']])
 * getSetCookies(headers) // [{ name: 'a', value: '1', secure: true }]
 */
export function getSetCookies(headers: CookieHeaders): Cookie[] {
  // biome-ignore lint/complexity/noArguments: left out and given as undefined are different errors
  requireArguments(arguments.length, 1, 'getSetCookies')
  requireHeaders(headers)
  // undici's types have no null entries either.
  return headers.getSetCookie().map((value) => parseSetCookie(value)) as Cookie[]
}

/**
 * Reads one `Set-Cookie` value. The cookie's value is as received, percent-encoded sequences included. Null
 * when the text holds a control character other than a tab, or name and value together exceed 4096
 * characters.
 *
 * @example
 * parseCookie('a=%20; SameSite=lax') // { name: 'a', value: '%20', sameSite: 'Lax' }
 */
export function parseCookie(cookie: string): Cookie | null {
  return parseSetCookie(asString(cookie))
}

/**
 * Appends a cookie as a `Set-Cookie` header. A part that cannot be written as it is throws an `Error` and
 * nothing is appended; neither is a cookie with an empty name, silently. The name prefix `__Secure-` turns
 * `secure` on; `__Host-` also drops `domain` and sets `path` to `/`.
 *
 * @example
 * setCookie(headers, { name: 'a', value: '1', maxAge: 60, sameSite: 'Lax' }) // a=1; Max-Age=60; SameSite=Lax
 */
export function setCookie(headers: CookieHeaders, cookie: Cookie): void {
  // biome-ignore lint/complexity/noArguments: left out and given as undefined are different errors
  requireArguments(arguments.length, 2, 'setCookie')
  requireHeaders(headers)
  append(headers, serializeCookie(toCookieRecord(cookie)))
}

/**
 * Appends a `Set-Cookie` header that makes its receiver forget the cookie: empty, and expired since the Unix
 * epoch. `path` and `domain` must be those the cookie was set with. Headers already there stay.
 *
 * @example
 * deleteCookie(headers, 'a', { path: '/p' }) // a=; Path=/p; Expires=Thu, 01 Jan 1970 00:00:00 GMT
 */
export function deleteCookie(
  headers: CookieHeaders,
  name: string,
  attributes?: { path?: string; domain?: string },
): void {
  requireHeaders(headers)
  // biome-ignore lint/complexity/noArguments: left out and given as undefined are different errors
  requireArguments(arguments.length, 2, 'deleteCookie')
  append(headers, serializeCookie(toDeletionRecord(name, attributes)))
}

function append(headers: CookieHeaders, setCookieValue: string | null): void {
  if (setCookieValue !== null) headers.append('set-cookie', setCookieValue)
}

/**
 * Of the runtime, of this package or of another one. An object that only has the prototype of such a class
 * throws.
 */
function requireHeaders(headers: CookieHeaders): void {
  try {
    const { [Symbol.toStringTag]: tag } = headers as CookieHeaders & Record<symbol, unknown>
    if (tag !== 'Headers') throw new TypeError('no Headers')
    headers.has('cookie')
  } catch (cause) {
    throw Object.assign(illegalInvocation(), { cause })
  }
}
