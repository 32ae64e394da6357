/** The options of a jar and of its methods: their defaults and checks. */

import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { ownMembers } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import {
  type Check,
  type Filled,
  isBoolean,
  isFunction,
  type OptionTable,
  oneOf,
  option,
  readOptions,
} from '../../options.ts'
import { MAX_COOKIES, MAX_COOKIES_PER_DOMAIN } from './limits.ts'

/** Options of a `CookieJar`. */
export interface CookieJarOptions {
  /**
   * Whether a domain, in lower case and ASCII, is one under which others register names, as `com` and `co.uk`
   * are. No host may set a cookie for all of it. Default: domains of one label are.
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
   * `strict`: a request of the site itself. `lax`: another site's link to it. `none`: any other request that
   * another site caused. Default: `strict`.
   */
  sameSiteContext?: 'strict' | 'lax' | 'none' | null | undefined
}

export type JarSettings = Filled<CookieJarOptions>
export type RequestContext = Filled<CookieContext>

const DEFAULT_CONTEXT: RequestContext = { http: true, sameSiteContext: 'strict' }

const isOneLabel = (domain: string): boolean => !domain.includes('.')
// Not `Date.now` itself: a fake clock may replace it later.
const systemTime = (): number => Date.now()

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0

const JAR_OPTIONS: OptionTable<JarSettings> = {
  isPublicSuffix: option(isOneLabel, isFunction, 'isPublicSuffix must be a function', suffixCheck),
  now: option(systemTime, isFunction, 'now must be a function'),
  maxCookies: option(MAX_COOKIES, isCount, 'maxCookies must be a positive integer'),
  maxCookiesPerDomain: option(
    MAX_COOKIES_PER_DOMAIN,
    isCount,
    'maxCookiesPerDomain must be a positive integer',
  ),
  trustLoopback: option(true, isBoolean, 'trustLoopback must be a boolean'),
}

const CONTEXT_OPTIONS: OptionTable<RequestContext> = {
  sameSiteContext: option<RequestContext['sameSiteContext']>(
    'strict',
    oneOf('strict', 'lax', 'none'),
    "sameSiteContext must be 'strict', 'lax' or 'none'",
  ),
  http: option(true, isBoolean, 'http must be a boolean'),
}

export function readJarOptions(options: CookieJarOptions | null | undefined): JarSettings {
  return readOptions(JAR_OPTIONS, ownMembers(options))
}

export function readContext(options: CookieContext | null | undefined): RequestContext {
  if (options === undefined || options === null) return DEFAULT_CONTEXT
  return readOptions(CONTEXT_OPTIONS, ownMembers(options))
}

function suffixCheck(check: (domain: string) => unknown): (domain: string) => boolean {
  return (domain) => {
    const answer = check(domain)
    // A promise is true in a condition: a check that has become asynchronous would refuse everything.
    ignoreRejection(answer)
    if (typeof answer !== 'boolean') throw new InvalidArgumentError('isPublicSuffix must return a boolean')
    return answer
  }
}
