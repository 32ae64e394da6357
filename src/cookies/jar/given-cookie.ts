/** Reads what a caller or a server gives as a cookie. A caller's mistake throws, a server's is a null. */
import { ownMembers } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { Cookie } from '../cookie.ts'
import { type CookieRecord, toCookieRecord } from '../cookie-record.ts'
import { parseSetCookie } from '../parse.ts'
import { isCookieText } from './limits.ts'
import type { JarCookie } from './stored-cookie.ts'

/** A `Set-Cookie` value. A path that is not absolute counts as that of the request. */
export function readText(text: string, ownPath: string): CookieRecord | null {
  const cookie = parseSetCookie(text, ownPath)
  if (cookie === null) return null
  const { name, value, domain = null, path = null, maxAge = null, sameSite = null } = cookie
  const { secure = false, httpOnly = false, unparsed = [] } = cookie
  const expires = (cookie.expires ?? null) as Date | null
  return { name, value, domain, path, expires, maxAge, secure, httpOnly, sameSite, unparsed }
}

/** A caller's object. The cookies that a jar returns can be set again. */
export function readObject(cookie: Cookie | JarCookie, ownPath: string): CookieRecord {
  const own = ownMembers(cookie)
  const record = toCookieRecord(own)
  const { name, value, path } = record
  if (!isCookieText(name) || name.includes('=')) throw new InvalidArgumentError('invalid cookie name')
  if (!isCookieText(value)) throw new InvalidArgumentError('invalid cookie value')
  if (path !== null && !isCookieText(path)) throw new InvalidArgumentError('invalid cookie path')
  const isOfHost = (own as Partial<JarCookie>).hostOnly === true
  return {
    ...record,
    domain: record.domain === null || isOfHost ? null : readDomain(record.domain),
    path: path === null || path.startsWith('/') ? path : ownPath,
  }
}

/** In the form that hosts have. Only a caller may write a domain with letters beyond ASCII (§5.7). */
export function readDomain(text: string): string {
  const domain = text.startsWith('.') ? text.slice(1) : text
  if (domain === '') return ''
  // What ends a host in a URL would make another host of the text.
  const url = `https://${domain}`
  if (/[/?#@\\]/.test(domain) || !URL.canParse(url) || new URL(url).port !== '') {
    throw new InvalidArgumentError('invalid cookie domain')
  }
  return new URL(url).hostname
}
