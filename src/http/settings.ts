/**
 * The options of a client or a call, checked and merged with those of the parent: `headers` and `query` by
 * name, `retry` and `timeout` by member, `hooks` one after the other; everything else is replaced.
 */
import { cache } from '../cache/interceptor.ts'
import type { Interceptor } from '../dispatcher/compose.ts'
import { InvalidArgumentError } from '../errors.ts'
import { auth } from '../interceptor/auth/interceptor.ts'
import { type AuthOptions, readAuthOptions } from '../interceptor/auth/options.ts'
import { circuitBreaker } from '../interceptor/circuit-breaker/interceptor.ts'
import { cookies } from '../interceptor/cookies/interceptor.ts'
import { decompress } from '../interceptor/decompress/interceptor.ts'
import type { DecompressOptions } from '../interceptor/decompress/options.ts'
import { guard } from '../interceptor/guard/interceptor.ts'
import { redirect } from '../interceptor/redirect/interceptor.ts'
import type { RedirectOptions } from '../interceptor/redirect/options.ts'
import { type RetryOptions, readRetryOptions } from '../interceptor/retry/options.ts'
import { throttle } from '../interceptor/throttle/interceptor.ts'
import { finiteFrom, typeName } from '../options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { type Fields, withFields } from './headers.ts'
import { checkNames } from './known-options.ts'
import type { AfterResponse, BeforeRequest, BeforeRetry, HttpOptions } from './options.ts'
import { merged, type Query, readQuery } from './query.ts'
import { readBase } from './target.ts'

/** What a caller gives, before it is checked. */
type Given = { readonly [N in keyof HttpOptions]?: unknown }

export interface Hooks {
  readonly beforeRequest: readonly BeforeRequest[]
  readonly afterResponse: readonly AfterResponse[]
  readonly beforeRetry: readonly BeforeRetry[]
}

/** The interceptors of a client. They are made with the option, and its children share their state. */
export interface Layers {
  readonly guard: Interceptor | null
  readonly throttle: Interceptor | null
  readonly circuitBreaker: Interceptor | null
  readonly auth: Interceptor | null
  readonly cache: Interceptor | null
  readonly cookies: Interceptor | null
  readonly decompress: Interceptor | null
  readonly redirect: Interceptor | null
}

/** What a call may have of its own. */
export interface CallSettings {
  readonly headers: Fields
  /** Null for none. */
  readonly retry: RetryOptions | null
  readonly redirect: RedirectOptions
  /** Milliseconds; 0 for none. */
  readonly attempt: number
  readonly total: number
  readonly hooks: Hooks
  readonly throwOnError: boolean
}

export interface Settings extends CallSettings {
  /** Whether it asks for all codings that it can decode. */
  readonly acceptsCodings: boolean
  readonly base: URL | null
  readonly query: Query | null
  readonly auth: AuthOptions | null
  readonly dispatcher: Dispatching | null
  readonly layers: Layers
}

/** Programs are redirected once or twice; a circle should end soon. */
const MAX_REDIRECTS = 10

const REDIRECT: RedirectOptions = {
  maxRedirections: MAX_REDIRECTS,
  throwOnMaxRedirect: true,
  // A service has its secrets in fields of any name.
  stripHeadersOnCrossOriginRedirect: '*',
}

/** Each makes an interceptor from its option. */
const FEATURES: {
  readonly [N in Exclude<keyof Layers, 'auth' | 'redirect'>]: (value: never) => Interceptor
} = {
  guard: (value) => guard(value),
  throttle: (value) => throttle(value),
  circuitBreaker: (value) => circuitBreaker(ifNotTrue(value)),
  cache: (value) => cache(ifNotTrue(value) ?? {}),
  cookies: (value) => cookies(value === true ? null : { jar: value }),
  // A program reads the bodies of errors, too.
  decompress: (value) => decompress({ skipErrorResponses: false, ...objectOf(ifNotTrue(value) ?? {}) }),
}

export const DEFAULTS: Settings = {
  headers: Object.freeze(Object.create(null)) as Fields,
  query: null,
  retry: null,
  redirect: REDIRECT,
  attempt: 0,
  total: 0,
  hooks: { beforeRequest: [], afterResponse: [], beforeRetry: [] },
  throwOnError: true,
  base: null,
  auth: null,
  dispatcher: null,
  acceptsCodings: true,
  layers: {
    guard: null,
    throttle: null,
    circuitBreaker: null,
    auth: null,
    cache: null,
    cookies: null,
    decompress: FEATURES.decompress(true as never),
    redirect: redirect(REDIRECT),
  },
}

export function readSettings(given: unknown, parent: Settings): Settings {
  checkNames(given, 'extend()')
  const own = ownOf(given as Given)
  const layers: Record<string, Interceptor | null> = { ...parent.layers }
  for (const [name, make] of Object.entries(FEATURES)) {
    const value = own[name as keyof typeof FEATURES]
    if (value !== undefined) layers[name] = value === false ? null : named(name, () => make(value as never))
  }
  const shared = readCallSettings(own, parent)
  if (own.redirect !== undefined) layers['redirect'] = redirect(shared.redirect)
  const base = own.baseUrl === undefined ? parent.base : readBase(own.baseUrl, parent.base)
  const credentials = own.auth === undefined ? parent.auth : readAuth(own.auth)
  // What it has learnt about one origin, its tokens and nonces, is shared by the clients of that origin.
  if (credentials !== parent.auth || base?.origin !== parent.base?.origin) {
    layers['auth'] = credentials === null ? null : auth({ origins: base?.origin, ...credentials })
  }
  return {
    ...shared,
    auth: credentials,
    acceptsCodings: own.decompress === undefined ? parent.acceptsCodings : acceptsCodings(own.decompress),
    base,
    query: own.query === undefined ? parent.query : merged(parent.query, readQuery(own.query, 'query')),
    dispatcher: own.dispatcher === undefined ? parent.dispatcher : readDispatcher(own.dispatcher),
    layers: layers as unknown as Layers,
  }
}

function readAuth(given: unknown): AuthOptions | null {
  if (given === false) return null
  const options = { ...objectOf(given, 'auth') } as AuthOptions
  named('auth', () => readAuthOptions(options))
  return options
}

function acceptsCodings(decompress: unknown): boolean {
  if (decompress === false) return false
  return (decompress as DecompressOptions).acceptEncoding !== false
}

/** Own members only: a polluted `Object.prototype` configures nothing. */
export function ownOf<T extends object>(given: T): T {
  return Object.assign(Object.create(null), given)
}

export function readCallSettings(own: Given, parent: CallSettings): CallSettings {
  const { headers, hooks, throwOnError } = own
  if (throwOnError !== undefined && typeof throwOnError !== 'boolean') {
    throw new InvalidArgumentError('throwOnError must be a boolean')
  }
  return {
    headers: headers === undefined ? parent.headers : withFields(parent.headers, headers),
    retry: own.retry === undefined ? parent.retry : readRetry(own.retry, parent.retry),
    redirect: own.redirect === undefined ? parent.redirect : readRedirect(own.redirect, parent.redirect),
    ...readTimeouts(own.timeout, parent),
    hooks: hooks === undefined ? parent.hooks : readHooks(hooks, parent.hooks),
    throwOnError: throwOnError ?? parent.throwOnError,
  }
}

function readRetry(given: unknown, parent: RetryOptions | null): RetryOptions | null {
  if (given === false || given === 0) return null
  const own =
    given === true ? {} : typeof given === 'number' ? { maxRetries: given } : objectOf(given, 'retry')
  const options = { ...parent, ...own } as RetryOptions
  named('retry', () => readRetryOptions(options))
  return options
}

function readRedirect(given: unknown, parent: RedirectOptions): RedirectOptions {
  if (given === true) return { ...REDIRECT, ...parent, maxRedirections: MAX_REDIRECTS }
  const own =
    given === false ? { maxRedirections: 0 } : typeof given === 'number' ? { maxRedirections: given } : given
  const options = { ...parent, ...objectOf(own, 'redirect') }
  named('redirect', () => redirect(options))
  return options
}

const isLimit = finiteFrom(0)

function readTimeouts(given: unknown, parent: CallSettings): Pick<CallSettings, 'attempt' | 'total'> {
  const { attempt, total } = parent
  if (given === undefined) return { attempt, total }
  if (typeof given === 'number') {
    throw new InvalidArgumentError('timeout must be an object: { attempt, total } in milliseconds')
  }
  checkNames(given, 'timeout')
  const own = ownOf(given as { attempt?: unknown; total?: unknown })
  for (const name of ['attempt', 'total'] as const) {
    if (own[name] === undefined || isLimit(own[name])) continue
    throw new InvalidArgumentError(`timeout.${name} must be a number of milliseconds, or 0 for no limit`)
  }
  return { attempt: (own.attempt as number) ?? attempt, total: (own.total as number) ?? total }
}

function readHooks(given: unknown, parent: Hooks): Hooks {
  checkNames(given, 'hooks')
  const own = ownOf(given as Record<string, unknown>)
  const read = <T>(name: keyof Hooks, present: readonly T[]): readonly T[] => {
    const list: unknown[] = own[name] === undefined ? [] : [own[name]].flat()
    if (list.every((hook) => typeof hook === 'function'))
      return list.length === 0 ? present : [...present, ...(list as T[])]
    throw new InvalidArgumentError(`hooks.${name} must be a function or a list of functions`)
  }
  return {
    beforeRequest: read('beforeRequest', parent.beforeRequest),
    afterResponse: read('afterResponse', parent.afterResponse),
    beforeRetry: read('beforeRetry', parent.beforeRetry),
  }
}

function readDispatcher(given: unknown): Dispatching {
  if (typeof (given as Partial<Dispatching> | null)?.dispatch === 'function') return given as Dispatching
  throw new InvalidArgumentError('dispatcher must have a method dispatch, as an Agent, Pool or Client has')
}

function ifNotTrue<T>(value: T): T | null {
  return (value as unknown) === true ? null : value
}

function objectOf(value: unknown, what = 'options'): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new InvalidArgumentError(`${what} must be an object or a boolean, not ${typeName(value)}`)
}

/** An interceptor refuses its options without saying whose they are. */
function named<T>(name: string, make: () => T): T {
  try {
    return make()
  } catch (cause) {
    const { message } = cause as Error
    throw new InvalidArgumentError(message.startsWith(name) ? message : `${name}: ${message}`, { cause })
  }
}
