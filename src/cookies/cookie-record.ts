/**
 * Converts what a caller passes as a cookie, by the rules of Web IDL for dictionaries, and checks no value.
 * Every member is read and converted once: what is checked later is what gets written, whatever a getter or a
 * `toString` would return the second time.
 */
import { asString, isIterableObject, isObject } from '../web/idl.ts'
import { type Cookie, SAME_SITES } from './cookie.ts'

/** A cookie after conversion; null where the caller gave nothing. */
export interface CookieRecord {
  name: string
  value: string
  expires: Date | null
  maxAge: number | null
  domain: string | null
  path: string | null
  secure: boolean
  httpOnly: boolean
  sameSite: NonNullable<Cookie['sameSite']> | null
  unparsed: string[]
}

export function toCookieRecord(cookie: unknown): CookieRecord {
  if (!isObject(cookie)) throw new TypeError('setCookie: cookie must be an object with a name and a value.')
  const { name, value, expires, maxAge, domain, path, secure, httpOnly, sameSite, unparsed } =
    cookie as Record<PropertyKey, unknown>
  return {
    name: toRequiredText('name', name),
    value: toRequiredText('value', value),
    expires: ifGiven(expires, toDate),
    maxAge: ifGiven(maxAge, toInteger),
    domain: ifGiven(domain, asString),
    path: ifGiven(path, asString),
    secure: Boolean(secure),
    httpOnly: Boolean(httpOnly),
    sameSite: toSameSite(sameSite),
    unparsed: toTexts(unparsed),
  }
}

/** The cookie that makes a receiver forget the one of that name. */
export function toDeletionRecord(name: unknown, attributes: unknown): CookieRecord {
  if (attributes !== undefined && attributes !== null && !isObject(attributes)) {
    throw new TypeError('deleteCookie: attributes must be an object.')
  }
  const { domain, path } = (attributes ?? {}) as Record<PropertyKey, unknown>
  return toCookieRecord({ name: asString(name), value: '', expires: new Date(0), domain, path })
}

function toRequiredText(member: string, value: unknown): string {
  if (value === undefined) throw new TypeError(`setCookie: cookie.${member} is required.`)
  return asString(value)
}

function ifGiven<T>(value: unknown, convert: (value: unknown) => T): T | null {
  return value === undefined || value === null ? null : convert(value)
}

/** Zero means "no date" only as a number; `new Date(0)` is the epoch, which deletes the cookie. */
function toDate(value: unknown): Date | null {
  const given = typeof value === 'number' ? toInteger(value) : value
  if (given === 0) return null
  // The constructor converts any value, as the conversion rules demand; its type is narrower.
  const date = new Date(given as string)
  return Number.isNaN(date.getTime()) ? null : date
}

function toInteger(value: unknown): number {
  const integer = Math.trunc(Number(value))
  return Number.isFinite(integer) ? integer : 0
}

function toSameSite(value: unknown): CookieRecord['sameSite'] {
  if (value === undefined) return null
  const text = asString(value) as NonNullable<Cookie['sameSite']>
  if (!SAME_SITES.includes(text)) {
    throw new TypeError('cookie.sameSite is not an accepted type. Expected one of Strict, Lax, None.')
  }
  return text
}

function toTexts(value: unknown): string[] {
  if (value === undefined) return []
  if (!isIterableObject(value)) throw new TypeError('cookie.unparsed is not iterable.')
  return Array.from(value, asString)
}
