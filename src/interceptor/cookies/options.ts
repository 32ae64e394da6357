/** The options of `interceptors.cookies`, and which jar a request uses. */
import { CookieJar } from '../../cookies/jar/cookie-jar.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { OptionNames } from '../../option-names.ts'
import { option, readOptions } from '../../options.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'

/** The part of a `CookieJar` that the interceptor uses. Both methods answer at once. */
export interface CookieJarLike {
  /** The value of the `Cookie` header; empty if there is none. */
  getCookieHeader(url: URL): string
  /** Takes a `Set-Cookie` value. */
  setCookie(cookie: string, url: URL): unknown
}

/** Options of `interceptors.cookies`. */
export interface CookiesOptions {
  /** Where the cookies are. Default: a jar that only this interceptor has. */
  jar?: CookieJarLike | null | undefined
}

const OPTIONS = { jar: option<CookieJarLike | null>(null, isJar, 'jar must be a CookieJar') }

const NAMES = new OptionNames('interceptors.cookies()', OPTIONS)

export function readJar(options: CookiesOptions | null | undefined): CookieJarLike {
  return readOptions(OPTIONS, options, NAMES).jar ?? new CookieJar()
}

/** Null for a request without cookies. Throws for a value that means nothing. */
export function jarOf({ cookies }: DispatchOptions, jar: CookieJarLike): CookieJarLike | null {
  if (cookies === undefined || cookies === null || cookies === true) return jar
  if (cookies === false) return null
  if (isJar(cookies)) return cookies
  throw new InvalidArgumentError('cookies must be a boolean or a CookieJar')
}

/** By its methods: a process may have two copies of the class. */
function isJar(value: unknown): value is CookieJarLike {
  if (typeof value !== 'object' || value === null) return false
  const { getCookieHeader, setCookie } = value as Partial<CookieJarLike>
  return typeof getCookieHeader === 'function' && typeof setCookie === 'function'
}
