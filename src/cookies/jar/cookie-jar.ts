/**
 * `CookieJar`: the cookies of one user (RFC 6265bis). Every method is synchronous, so that no concurrent
 * request can interfere. It does not know requests: `interceptors.cookies` connects the two.
 */
import { defineKind } from '../../base/object/kind.ts'
import { ownMembers } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { Cookie } from '../cookie.ts'
import { admit, type CookieTarget, readmit } from './cookie-rules.ts'
import { CookieStore } from './cookie-store.ts'
import { readDomain, readObject, readText } from './given-cookie.ts'
import { isLoopback } from './host.ts'
import { deserialize, type SerializedCookieJar, serialize } from './json.ts'
import { readNetscape, writeNetscape } from './netscape-file.ts'
import {
  type CookieContext,
  type CookieJarOptions,
  type JarSettings,
  readContext,
  readJarOptions,
} from './options.ts'
import { defaultPath, pathMatches } from './path.ts'
import { byPathAndAge, isExpired, type JarCookie, type StoredCookie, toJarCookie } from './stored-cookie.ts'

/** Which cookies are meant. What is not given does not count. */
export interface CookieFilter {
  /** The name of the cookie. */
  name?: string | undefined
  /** The domain of the cookie; those below are not meant. */
  domain?: string | undefined
  /** The path of the cookie, exactly. */
  path?: string | undefined
}

const SECURE_SCHEMES: ReadonlySet<string> = new Set(['https:', 'wss:'])
const SCHEMES: ReadonlySet<string> = new Set([...SECURE_SCHEMES, 'http:', 'ws:'])

/**
 * A cookie jar.
 *
 * @example
 * const jar = new CookieJar()
 * jar.setCookie('session=abc; Path=/; HttpOnly', 'https://example.com/login')
 * jar.getCookieHeader('https://example.com/') // session=abc
 */
export class CookieJar {
  readonly #settings: JarSettings
  readonly #store: CookieStore

  constructor(options?: CookieJarOptions | null) {
    this.#settings = readJarOptions(options)
    this.#store = new CookieStore(this.#settings)
  }

  /**
   * A jar from its JSON form, as an object or as text. Cookies that have expired or break a rule are left
   * out.
   */
  static fromJSON(data: SerializedCookieJar | string, options?: CookieJarOptions | null): CookieJar {
    const jar = new CookieJar(options)
    jar.#restore(deserialize(data))
    return jar
  }

  /** A jar from the text of a `cookies.txt`, read as Latin-1. Lines that are not cookies are skipped. */
  static fromNetscape(text: string, options?: CookieJarOptions | null): CookieJar {
    if (typeof text !== 'string') throw new InvalidArgumentError('text must be a string')
    const jar = new CookieJar(options)
    jar.#restore(readNetscape(text, jar.#now()))
    return jar
  }

  /** Stores the cookies of a JSON form, as if a server had sent them; each in place of the one it has. */
  addJSON(data: SerializedCookieJar | string): void {
    this.#restore(deserialize(data))
  }

  /** How many cookies it has. Those that have expired count until they are removed. */
  get size(): number {
    return this.#store.size
  }

  /**
   * Stores a cookie that came from a URL: a `Set-Cookie` value, or an object. Returns the cookie, or null if
   * nothing is stored: the value is not a cookie, the URL may not set it, or it has expired, which deletes
   * the one before.
   */
  setCookie(cookie: string | Cookie, url: string | URL, options?: CookieContext | null): JarCookie | null {
    const target = this.#targetOf(url)
    const context = readContext(options)
    const ownPath = defaultPath(target.path)
    const wanted = typeof cookie === 'string' ? readText(cookie, ownPath) : readObject(cookie, ownPath)
    if (wanted === null) return null
    const now = this.#now()
    const admitted = admit(wanted, target, ownPath, context, this.#settings, now)
    if (admitted === null) return null
    if (!admitted.secure && !target.isSecure && this.#store.shadowsSecure(admitted, now)) return null
    const old = this.#store.counterpart(admitted)
    if (old?.httpOnly === true && !context.http && !isExpired(old, now)) return null
    return this.#put(admitted, now) ? toJarCookie(admitted) : null
  }

  /** The cookies that a request for this URL gets, in the order in which they are sent. */
  getCookies(url: string | URL, options?: CookieContext | null): JarCookie[] {
    return this.#find(url, options).map(toJarCookie)
  }

  /** The value of the `Cookie` header of a request for this URL; empty if there is none. */
  getCookieHeader(url: string | URL, options?: CookieContext | null): string {
    let text = ''
    for (const { name, value } of this.#find(url, options)) {
      if (text !== '') text += '; '
      text += name === '' ? value : `${name}=${value}`
    }
    return text
  }

  /**
   * Removes the cookies that a filter means, and returns how many. A cookie of this jar is a filter for
   * itself.
   */
  remove(filter: CookieFilter): number {
    if (typeof filter !== 'object' || filter === null)
      throw new InvalidArgumentError('filter must be an object')
    const { name, domain, path } = ownMembers(filter)
    if (name === undefined && domain === undefined && path === undefined) {
      throw new InvalidArgumentError('filter must have a name, a domain or a path')
    }
    const ownDomain = domain === undefined ? undefined : readDomain(`${domain}`)
    const isMeant = (cookie: StoredCookie): boolean =>
      (name === undefined || cookie.name === name) && (path === undefined || cookie.path === path)
    return this.#store.deleteWhere(ownDomain, this.#now(), isMeant)
  }

  /** Removes all cookies. */
  clear(): void {
    this.#store.clear()
  }

  /** All cookies, oldest first. */
  [Symbol.iterator](): IterableIterator<JarCookie> {
    return this.#store.all(this.#now()).map(toJarCookie).values()
  }

  /** The JSON form, for `CookieJar.fromJSON`. */
  toJSON(): SerializedCookieJar {
    return serialize(this.#store.all(this.#now()))
  }

  /** The text of a `cookies.txt`, to be written as Latin-1. Cookies that contain a tab are left out. */
  toNetscape(): string {
    return writeNetscape(this.#store.all(this.#now()))
  }

  #find(url: string | URL, options: CookieContext | null | undefined): StoredCookie[] {
    const { host, path, isSecure } = this.#targetOf(url)
    const { http, sameSiteContext } = readContext(options)
    if (this.#store.size === 0) return []
    const now = this.#now()
    const found = this.#store.of(host, now)
    let count = 0
    for (const cookie of found) {
      if (!pathMatches(path, cookie.path) || (cookie.secure && !isSecure)) continue
      if (cookie.httpOnly && !http) continue
      if (sameSiteContext !== 'strict' && !isSentAcross(cookie, sameSiteContext, http)) continue
      this.#store.use(cookie, now)
      found[count++] = cookie
    }
    found.length = count
    return sorted(found)
  }

  #put(cookie: StoredCookie, now: number): boolean {
    if (isExpired(cookie, now)) {
      this.#store.delete(cookie)
      return false
    }
    this.#store.put(cookie, now)
    // The store may be full of cookies that count for more.
    return this.#store.counterpart(cookie) === cookie
  }

  #restore(cookies: readonly (StoredCookie | null)[]): void {
    const now = this.#now()
    for (const cookie of cookies) {
      const known = cookie && readmit(cookie, this.#settings, now)
      if (known !== null) this.#put(known, now)
    }
  }

  #now(): number {
    const now: unknown = this.#settings.now()
    if (typeof now !== 'number' || Number.isNaN(now))
      throw new InvalidArgumentError('now must return a number')
    return now
  }

  #targetOf(url: string | URL): CookieTarget {
    const { protocol, hostname, pathname } = parse(url)
    if (!SCHEMES.has(protocol)) throw new InvalidArgumentError('url must be an http, https, ws or wss URL')
    const isSecure = SECURE_SCHEMES.has(protocol) || (this.#settings.trustLoopback && isLoopback(hostname))
    return { host: hostname, path: pathname, isSecure }
  }
}

defineKind(CookieJar, 'ventuno.CookieJar')

/** A URL of another realm or package is read as its text. */
function parse(url: string | URL): URL {
  try {
    return url instanceof URL ? url : new URL(`${url}`)
  } catch {
    // The runtime's error shows the URL, which may contain a password.
    throw new InvalidArgumentError('invalid url')
  }
}

/** In place. They mostly are in order already, and a check costs less than sorting. */
function sorted(cookies: StoredCookie[]): StoredCookie[] {
  for (let i = 1; i < cookies.length; i++) {
    if (byPathAndAge(cookies[i - 1]!, cookies[i]!) > 0) return cookies.sort(byPathAndAge)
  }
  return cookies
}

/** RFC 6265bis §5.8.3: with a request that another site caused. */
function isSentAcross({ sameSite }: StoredCookie, context: 'lax' | 'none', http: boolean): boolean {
  return sameSite === 'None' || (context === 'lax' && sameSite !== 'Strict' && http)
}
