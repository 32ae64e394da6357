/** The options of a jar and of its methods: their defaults and checks. */
import { ownMembers } from '../../base/own-options.ts'
import { ignoreRejection } from '../../base/stray-promise.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { MAX_COOKIES, MAX_COOKIES_PER_DOMAIN } from './limits.ts'

/** Options of a `CookieJar`. */
export interface CookieJarOptions {
  /**
   * Whether a domain, in lower case and ASCII, is one under which others register names, as `com` and `co.uk` are. No host may
   * set a cookie for all of it. Default: domains of one label are.
   */
  isPublicSuffix?: ((domain: string) => boolean) | null | undefined
  /** Milliseconds since the Unix epoch. Default: `Date.now`. */
  now?: (() => number) | null | undefined
  /** Cookies that the jar keeps. Default: 3000. */
  maxCookies?: number | null | undefined
  /** Cookies that it keeps for one domain. Default: 50. */
  maxCookiesPerDomain?: number | null | undefined
  /** Whether `http:` to this machine is as good as `https:` for cookies that are `Secure`. Default: true. */
  trustLoopback?: boolean | null | undefined
}

/** How a request came about, which decides about cookies that are `HttpOnly` or have a `SameSite`. */
export interface CookieContext {
  /** False for a script's view: without the cookies that are `HttpOnly`. Default: true. */
  http?: boolean | null | undefined
  /**
   * `strict`: a request of the site itself. `lax`: another site's link to it. `none`: any other request that another site
   * caused. Default: `strict`.
   */
  sameSiteContext?: 'strict' | 'lax' | 'none' | null | undefined
}

export interface JarSettings {
  readonly isPublicSuffix: (domain: string) => boolean
  readonly now: () => number
  readonly maxCookies: number
  readonly maxCookiesPerDomain: number
  readonly trustLoopback: boolean
}

export interface RequestContext {
  readonly http: boolean
  readonly sameSiteContext: 'strict' | 'lax' | 'none'
}

const DEFAULT_CONTEXT: RequestContext = { http: true, sameSiteContext: 'strict' }

const isOneLabel = (domain: string): boolean => !domain.includes('.')
// Not `Date.now` itself: a fake clock may replace it later.
const systemTime = (): number => Date.now()

export function readJarOptions(options: CookieJarOptions | null | undefined): JarSettings {
  const own = ownOptions(options)
  const { maxCookies, maxCookiesPerDomain, trustLoopback, now } = own
  return {
    isPublicSuffix: readSuffixCheck(own.isPublicSuffix),
    now: readFunction('now', now) ?? systemTime,
    maxCookies: readCount('maxCookies', maxCookies) ?? MAX_COOKIES,
    maxCookiesPerDomain: readCount('maxCookiesPerDomain', maxCookiesPerDomain) ?? MAX_COOKIES_PER_DOMAIN,
    trustLoopback: readBoolean('trustLoopback', trustLoopback) ?? true,
  }
}

export function readContext(options: CookieContext | null | undefined): RequestContext {
  if (options === undefined || options === null) return DEFAULT_CONTEXT
  const { http, sameSiteContext } = ownOptions(options)
  if (sameSiteContext !== undefined && sameSiteContext !== null && !isSameSiteContext(sameSiteContext)) {
    throw new InvalidArgumentError("sameSiteContext must be 'strict', 'lax' or 'none'")
  }
  return { http: readBoolean('http', http) ?? true, sameSiteContext: sameSiteContext ?? 'strict' }
}

function isSameSiteContext(value: unknown): boolean {
  return value === 'strict' || value === 'lax' || value === 'none'
}

function ownOptions<T extends object>(options: T | null | undefined): T | Record<string, never> {
  if (options === undefined || options === null) return Object.create(null)
  if (typeof options !== 'object') throw new InvalidArgumentError('options must be an object')
  return ownMembers(options)
}

function readSuffixCheck(value: unknown): (domain: string) => boolean {
  const check = readFunction<(domain: string) => unknown>('isPublicSuffix', value)
  if (check === null) return isOneLabel
  return (domain) => {
    const answer = check(domain)
    // A promise is true in a condition: a check that has become asynchronous would refuse everything.
    ignoreRejection(answer)
    if (typeof answer !== 'boolean') throw new InvalidArgumentError('isPublicSuffix must return a boolean')
    return answer
  }
}

function readFunction<T extends (...args: never[]) => unknown>(name: string, value: unknown): T | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'function') throw new InvalidArgumentError(`${name} must be a function`)
  return value as T
}

function readCount(name: string, value: unknown): number | null {
  if (value === undefined || value === null) return null
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number
  throw new InvalidArgumentError(`${name} must be a positive integer`)
}

function readBoolean(name: string, value: unknown): boolean | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'boolean') throw new InvalidArgumentError(`${name} must be a boolean`)
  return value
}
