/** The options of the cache interceptor: types, defaults, checks. */
import { MAX_SECONDS } from '../relay/cache-control.ts'
import { expect, ownOptions, typeName } from '../relay/expected-options.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { cacheName } from './rules/cache-status.ts'
import { type CacheType, SECOND } from './rules/freshness.ts'
import type { CacheStore } from './store/cache-store.ts'
import { MemoryCacheStore } from './store/memory-store.ts'

/** The methods whose responses can be stored. */
export type CacheMethods = 'GET' | 'HEAD' | 'OPTIONS' | 'TRACE'

/** The options of `interceptors.cache()`. */
export interface CacheOptions {
  /** Where responses are kept. Default: a new MemoryCacheStore. */
  store?: CacheStore | undefined
  /** The methods whose responses are stored. Default: GET. */
  methods?: readonly CacheMethods[] | undefined
  /** Milliseconds that a response is fresh that does not say so itself. Default: it is not stored. */
  cacheByDefault?: number | undefined
  /** A shared cache serves several users, a private one serves one. Default: shared. */
  type?: CacheType | undefined
  /** The only origins to cache: strings in any letter case, or expressions. Default: all. */
  origins?: readonly (string | RegExp)[] | undefined
  /** Lets concurrent requests for the same URL wait for the first one's response. Default: false. */
  collapse?: boolean | undefined
  /**
   * Fields that replace Cache-Control in a shared cache (RFC 9213), the most important first. Default: none.
   */
  targets?: readonly string[] | undefined
  /** The name under which the cache adds itself to Cache-Status (RFC 9211). Default: it does not. */
  cacheStatus?: string | undefined
  /** Milliseconds of stale-if-error for responses that do not have the directive. Default: 0. */
  staleIfError?: number | undefined
  /** A part of the key: requests that return different strings never share a response. */
  partition?: ((opts: DispatchOptions) => string) | undefined
}

export interface CacheSettings {
  readonly store: CacheStore
  readonly methods: ReadonlySet<string>
  readonly cacheByDefault: number | undefined
  readonly type: CacheType
  readonly origins: readonly (string | RegExp)[] | null
  readonly collapse: boolean
  readonly targets: readonly string[]
  readonly cacheStatus: string | null
  readonly staleIfError: number
  readonly partition: ((opts: DispatchOptions) => string) | null
  /** What the cache has learned from the layers below it: see `StoringRules`. */
  readonly hidden: Set<string>
}

const METHODS: readonly CacheMethods[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/** As for `max-age`. Stores keep times as JSON and as whole numbers, which cannot be infinite. */
const MAX_DURATION = MAX_SECONDS * SECOND

export function readCacheOptions(given: CacheOptions | undefined): CacheSettings {
  const opts = ownOptions(given)
  const { type = 'shared', collapse = false, partition, cacheStatus, origins, targets = [] } = opts
  expect(type === 'shared' || type === 'private', 'type', 'shared, private, or undefined', typeof type)
  expect(typeof collapse === 'boolean', 'collapse', 'boolean or undefined', typeName(collapse))
  expect(isMaybe('function', partition), 'partition', 'function or undefined', typeName(partition))
  expect(isMaybe('string', cacheStatus), 'cacheStatus', 'string or undefined', typeName(cacheStatus))
  expect(origins === undefined || Array.isArray(origins), 'origins', 'an array or undefined', typeof origins)
  expect(Array.isArray(targets), 'targets', 'an array or undefined', typeName(targets))
  const name = cacheStatus === undefined ? null : cacheName(cacheStatus)
  if (name === null && cacheStatus !== undefined)
    throw new TypeError('expected opts.cacheStatus to have only printable ASCII characters')
  const names = targets.map((target, index) => {
    expect(typeof target === 'string', `targets[${index}]`, 'a string', typeName(target))
    return target.toLowerCase()
  })
  return {
    store: readStore(opts.store),
    methods: readMethods(opts.methods),
    cacheByDefault: readDuration('cacheByDefault', opts.cacheByDefault),
    type,
    origins: origins?.map(readOrigin) ?? null,
    collapse,
    targets: type === 'shared' ? names : [],
    cacheStatus: name,
    staleIfError: readDuration('staleIfError', opts.staleIfError) ?? 0,
    partition: partition ?? null,
    hidden: new Set(),
  }
}

function isMaybe(type: string, value: unknown): boolean {
  return value === undefined || typeof value === type
}

function readStore(store: unknown): CacheStore {
  if (store === undefined) return new MemoryCacheStore()
  if (typeof store !== 'object' || store === null) {
    throw new TypeError(`expected type of opts.store to be a CacheStore, got ${typeName(store)}`)
  }
  for (const name of ['get', 'createWriteStream', 'delete']) {
    if (typeof (store as Record<string, unknown>)[name] !== 'function') {
      throw new TypeError(`opts.store needs to have a \`${name}()\` function`)
    }
  }
  return store as CacheStore
}

function readMethods(methods: unknown = ['GET']): ReadonlySet<string> {
  if (!Array.isArray(methods)) {
    throw new TypeError(`expected type of opts.methods needs to be an array, got ${typeName(methods)}`)
  }
  if (methods.length === 0) throw new TypeError('opts.methods needs to have at least one method')
  const wrong = methods.findIndex((method) => !METHODS.includes(method))
  if (wrong === -1) return new Set(methods as string[])
  throw new TypeError(
    `element of opts.methods-array needs to be one of following values: ${METHODS.join(', ')}, got ${String(methods[wrong])}`,
  )
}

function readDuration(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  expect(typeof value === 'number', name, 'number or undefined', typeof value)
  if (!(value >= 0)) throw new TypeError(`expected opts.${name} to be a non-negative number, got ${value}`)
  return Math.min(value, MAX_DURATION)
}

function readOrigin(origin: unknown, index: number): string | RegExp {
  // A copy without the flags that make an expression remember where it stopped.
  if (origin instanceof RegExp) return new RegExp(origin.source, origin.flags.replaceAll(/[gy]/g, ''))
  expect(typeof origin === 'string', `origins[${index}]`, 'a string or RegExp', typeof origin)
  return URL.canParse(origin) ? new URL(origin).origin : origin.toLowerCase()
}

export function isListed(origin: string, origins: readonly (string | RegExp)[] | null): boolean {
  if (origins === null) return true
  return origins.some((listed) => (typeof listed === 'string' ? listed === origin : listed.test(origin)))
}
