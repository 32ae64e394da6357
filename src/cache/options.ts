/** The options of the cache interceptor: types, defaults, checks. */
import { OptionNames } from '../option-names.ts'
import {
  expectOption,
  type Filled,
  isBoolean,
  isFunction,
  isNumber,
  isString,
  type OptionTable,
  oneOf,
  option,
  readExpected,
  setOption,
  typeName,
} from '../options.ts'
import { MAX_SECONDS } from '../relay/cache-control.ts'
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
  /** Milliseconds for which a response without a lifetime is fresh. Default: it is not stored. */
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

export interface CacheSettings
  extends Filled<Pick<CacheOptions, 'type' | 'collapse' | 'targets' | 'staleIfError'>> {
  readonly store: CacheStore
  readonly methods: ReadonlySet<string>
  readonly cacheByDefault: number | undefined
  readonly origins: readonly (string | RegExp)[] | null
  readonly cacheStatus: string | null
  readonly partition: ((opts: DispatchOptions) => string) | null
}

const METHODS: readonly CacheMethods[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/** As for `max-age`. Stores keep times as JSON and as whole numbers, which cannot be infinite. */
const MAX_DURATION = MAX_SECONDS * SECOND

const OPTIONS: OptionTable<Omit<CacheSettings, 'store'> & { store: CacheStore | null }> = {
  type: option<CacheType>('shared', oneOf('shared', 'private'), 'shared, private, or undefined'),
  collapse: option(false, isBoolean, 'boolean or undefined'),
  partition: option<CacheSettings['partition']>(null, isFunction, 'function or undefined'),
  cacheStatus: option<string | null>(null, isString, 'string or undefined', readName),
  origins: option<CacheSettings['origins']>(null, Array.isArray, 'an array or undefined', readOrigins),
  targets: option<readonly string[]>([], Array.isArray, 'an array or undefined', readTargets),
  store: option<CacheStore | null>(null, isStore),
  methods: { ...setOption(['GET'], isString), check: areMethods },
  cacheByDefault: option<number | undefined>(undefined, isNumber, 'number or undefined', readDuration),
  staleIfError: option(0, isNumber, 'number or undefined', readDuration),
}

const NAMES = new OptionNames('interceptors.cache()', OPTIONS)

export function readCacheOptions(given: CacheOptions | undefined): CacheSettings {
  const { store, targets, ...same } = readExpected(OPTIONS, given, NAMES)
  return {
    ...same,
    store: store ?? new MemoryCacheStore(),
    targets: same.type === 'shared' ? targets : [],
  }
}

function readName(given: string): string {
  const name = cacheName(given)
  if (name !== null) return name
  throw new TypeError('expected opts.cacheStatus to have only printable ASCII characters')
}

function readTargets(targets: readonly unknown[]): string[] {
  return targets.map((target, index) => {
    expectOption(typeof target === 'string', `targets[${index}]`, 'a string', typeName(target))
    return target.toLowerCase()
  })
}

function isStore(store: unknown): boolean {
  if (typeof store !== 'object' || store === null) {
    throw new TypeError(`expected type of opts.store to be a CacheStore, got ${typeName(store)}`)
  }
  for (const name of ['get', 'createWriteStream', 'delete']) {
    if (typeof (store as Record<string, unknown>)[name] !== 'function') {
      throw new TypeError(`opts.store needs to have a \`${name}()\` function`)
    }
  }
  return true
}

function areMethods(methods: unknown): boolean {
  if (!Array.isArray(methods)) {
    throw new TypeError(`expected type of opts.methods needs to be an array, got ${typeName(methods)}`)
  }
  if (methods.length === 0) throw new TypeError('opts.methods needs to have at least one method')
  const wrong = methods.findIndex((method) => !METHODS.includes(method))
  if (wrong === -1) return true
  throw new TypeError(
    `element of opts.methods-array needs to be one of following values: ${METHODS.join(', ')}, got ${String(methods[wrong])}`,
  )
}

function readDuration(value: number, name: string): number {
  expectOption(value >= 0, name, 'a non-negative number', String(value))
  return Math.min(value, MAX_DURATION)
}

function readOrigins(origins: readonly unknown[]): (string | RegExp)[] {
  return origins.map((origin, index) => {
    // A copy without the flags that make an expression remember where it stopped.
    if (origin instanceof RegExp) return new RegExp(origin.source, origin.flags.replaceAll(/[gy]/g, ''))
    expectOption(typeof origin === 'string', `origins[${index}]`, 'a string or RegExp', typeof origin)
    return URL.canParse(origin) ? new URL(origin).origin : origin.toLowerCase()
  })
}

export function isListed(origin: string, origins: readonly (string | RegExp)[] | null): boolean {
  if (origins === null) return true
  return origins.some((listed) => (typeof listed === 'string' ? listed === origin : listed.test(origin)))
}
