/**
 * Owns the reading of what a caller or a server passes as a cookie. The caller's mistakes throw; a
 * `Set-Cookie` value that is wrong is a null.
 */
import { ownMembers } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { Cookie } from '../cookie.ts'
import { toCookieRecord } from '../cookie-record.ts'
import { parseSetCookie } from '../parse.ts'
import type { WantedCookie } from './cookie-rules.ts'
import { isCookieText } from './limits.ts'
import type { JarCookie } from './stored-cookie.ts'

const UNSAID: Omit<WantedCookie, 'name' | 'value'> = {
  domain: null,
  path: null,
  expires: null,
  maxAge: null,
  secure: false,
  httpOnly: false,
  sameSite: null,
}

/** A `Set-Cookie` value. A path that is not absolute counts as that of the request. */
export function readText(text: string, ownPath: string): WantedCookie | null {
  const cookie = parseSetCookie(text, ownPath)
  return cookie === null ? null : { ...UNSAID, ...cookie, expires: cookie.expires?.valueOf() ?? null }
}

/** A caller's object. The cookies that a jar returns can be set again. */
export function readObject(cookie: Cookie | JarCookie, ownPath: string): WantedCookie {
  const own = ownMembers(cookie)
  const record = toCookieRecord(own)
  const { name, value, path, expires, sameSite } = record
  if (!isCookieText(name) || name.includes('=')) throw new InvalidArgumentError('invalid cookie name')
  if (!isCookieText(value)) throw new InvalidArgumentError('invalid cookie value')
  if (path !== null && !isCookieText(path)) throw new InvalidArgumentError('invalid cookie path')
  const isOfHost = (own as Partial<JarCookie>).hostOnly === true
  return {
    ...record,
    domain: record.domain === null || isOfHost ? null : readDomain(record.domain),
    path: path === null || path.startsWith('/') ? path : ownPath,
    expires: expires?.valueOf() ?? null,
    sameSite: sameSite as WantedCookie['sameSite'],
  }
}

/** In the form that hosts have. Only a caller may write a domain with letters beyond ASCII (§5.7). */
export function readDomain(text: string): string {
  const domain = text.startsWith('.') ? text.slice(1) : text
  if (domain === '') return ''
  // What ends a host in a URL would make another host of the text.
  const url = /[/?#@\\]/.test(domain) ? null : parseHost(domain)
  if (url === null || url.port !== '') throw new InvalidArgumentError('invalid cookie domain')
  return url.hostname
}

function parseHost(text: string): URL | null {
  try {
    return new URL(`https://${text}`)
  } catch {
    return null
  }
}
