/**
 * One reply of an interceptor, with its use count. An interceptor with several replies has several of these.
 */
import { ownMembers } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import type { PendingReply, Reply } from '../reply/reply.ts'
import type { BodyMatcher } from './body-matcher.ts'
import type { DefinitionSite } from './definition-site.ts'
import type { HeadersMatcher } from './header-matcher.ts'
import { interceptedPath, sortedPath, withoutTrailingSlash } from './request-path.ts'
import type { TextMatcher } from './text-matcher.ts'

/** What `intercept()` matches. */
export interface MockInterceptorOptions {
  /** With its query, whose order does not matter. A path without a query matches no request with one. */
  path: TextMatcher
  /** A string in any letter case. Default: `GET`. */
  method?: TextMatcher | undefined
  /** Default: any body, or none. */
  body?: BodyMatcher | undefined
  /** Default: any headers. */
  headers?: HeadersMatcher | undefined
  /** Appended to a path that is a string. */
  // biome-ignore lint/suspicious/noExplicitAny: with `unknown` the interfaces of callers would not fit
  query?: Record<string, any> | undefined
  /** Ignore slashes at the end of the pathname. Default: the agent's. */
  ignoreTrailingSlash?: boolean | undefined
}

/** Extracts the named parts of a path; null if the path does not match. */
export type PathPattern = (path: string) => Readonly<Record<string, string>> | null

/** The options of `intercept()`, checked and normalised. */
export interface MockPattern
  extends Pick<PendingInterceptor, 'path' | 'method' | 'body' | 'headers' | 'query' | 'ignoreTrailingSlash'> {
  /** The path as it is compared; null if it is not a string. */
  readonly sortedPath: string | null
  readonly site: DefinitionSite
  /** Null for a path without named parts. */
  readonly named: PathPattern | null
}

export function readPattern(
  options: MockInterceptorOptions,
  ignoresTrailingSlash: boolean,
  site: DefinitionSite,
  named: PathPattern | null = null,
): MockPattern {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('opts must be an object')
  }
  const own = ownMembers(options)
  const { path: given, method = 'GET', body, headers, query } = own
  if (given === undefined || given === null) throw new InvalidArgumentError('opts.path must be defined')
  const ignoreTrailingSlash = own.ignoreTrailingSlash ?? ignoresTrailingSlash
  const path = typeof given === 'string' ? interceptedPath(given, query) : given
  const sorted = typeof path === 'string' ? sortedPath(path) : null
  return {
    path,
    method: typeof method === 'string' ? method.toUpperCase() : method,
    body,
    headers,
    query,
    ignoreTrailingSlash,
    sortedPath: sorted !== null && ignoreTrailingSlash ? withoutTrailingSlash(sorted) : sorted,
    site,
    named,
  }
}

/** The origin that interceptors are for, as it was given. */
export type OriginMatcher = string | RegExp | ((origin: string) => boolean)

/** What `pendingInterceptors()` lists. */
export interface PendingInterceptor {
  /** As given to `get()`. */
  origin: OriginMatcher
  /** As matched: a string has its query. */
  path: TextMatcher
  /** As matched. */
  method: TextMatcher
  /** As given. */
  body: BodyMatcher | undefined
  /** As given. */
  headers: HeadersMatcher | undefined
  /** As given. */
  query: Record<string, unknown> | undefined
  /** How often it replies. */
  times: number
  /** How often it has replied. */
  timesInvoked: number
  /** Replies any number of times. */
  persist: boolean
  /** Replies no more. */
  consumed: boolean
  /** Has replied less often than `times`. */
  pending: boolean
  /** As given, or the agent's. */
  ignoreTrailingSlash: boolean
  /** The reply: `{ error }` for an error, `{ error: null, callback }` for a function that makes all of it. */
  data: PendingReply
}

export class Interception {
  readonly pattern: MockPattern
  readonly reply: Reply
  times = 1
  timesInvoked = 0
  persist = false
  /** Milliseconds. */
  delay = 0

  constructor(pattern: MockPattern, reply: Reply) {
    this.pattern = pattern
    this.reply = reply
  }

  get consumed(): boolean {
    return !this.persist && this.timesInvoked >= this.times
  }

  get pending(): boolean {
    return this.timesInvoked < this.times
  }

  describe(origin: OriginMatcher): PendingInterceptor {
    const { sortedPath: _, site: __, named: ___, ...matched } = this.pattern
    const { times, timesInvoked, persist, consumed, pending, reply } = this
    return { origin, ...matched, times, timesInvoked, persist, consumed, pending, data: { ...reply.data } }
  }
}
