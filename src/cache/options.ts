/** The options of the cache interceptor: types, defaults, checks. */
import { withoutPollution } from '../base/own-options.ts'
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
  /** Milliseconds that a response is fresh that does not say so itself. Default: it is not stored. */
  cacheByDefault?: number | undefined
  /** A shared cache serves several users, a private one serves one. Default: shared. */
  type?: CacheType | undefined
  /** The only origins to cache: strings in any letter case, or expressions. Default: all. */
  origins?: readonly (string | RegExp)[] | undefined
  /** Lets concurrent requests for the same URL wait for the first one's response. Default: false. */
  collapse?: boolean | undefined
  /** Fields that replace Cache-Control in a shared cache (RFC 9213), the most important first. Default: none. */
  targets?: readonly string[] | undefined
  /** The name under which the cache adds itself to Cache-Status (RFC 9211). Default: it does not. */
  cacheStatus?: string | undefined
  /** Milliseconds that a stale response may answer for an origin that fails, if it does not say how long. Default: 0. */
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
  if (given !== undefined && (typeof given !== 'object' || given === null)) {
    throw new TypeError(`expected type of opts to be an Object, got ${typeName(given)}`)
  }
  const opts = Object.assign(Object.create(null), withoutPollution(given)) as CacheOptions
  const { type = 'shared' } = opts
  if (type !== 'shared' && type !== 'private') {
    throw new TypeError(`expected opts.type to be shared, private, or undefined, got ${typeof type}`)
  }
  const targets = readTargets(opts.targets)
  return {
    store: readStore(opts.store),
    methods: readMethods(opts.methods),
    cacheByDefault: readDuration('cacheByDefault', opts.cacheByDefault),
    type,
    origins: readOrigins(opts.origins),
    collapse: readBoolean('collapse', opts.collapse),
    targets: type === 'shared' ? targets : [],
    cacheStatus: readName(opts.cacheStatus),
    staleIfError: readDuration('staleIfError', opts.staleIfError) ?? 0,
    partition: readPartition(opts.partition),
    hidden: new Set(),
  }
}

function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value
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

function readMethods(methods: unknown): ReadonlySet<string> {
  if (methods === undefined) return new Set(['GET'])
  if (!Array.isArray(methods)) {
    throw new TypeError(`expected type of opts.methods needs to be an array, got ${typeName(methods)}`)
  }
  if (methods.length === 0) throw new TypeError('opts.methods needs to have at least one method')
  for (const method of methods) {
    if (!METHODS.includes(method)) {
      throw new TypeError(
        `element of opts.methods-array needs to be one of following values: ${METHODS.join(', ')}, got ${String(method)}`,
      )
    }
  }
  return new Set(methods as string[])
}

function readDuration(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number') {
    throw new TypeError(`expected opts.${name} to be number or undefined, got ${typeof value}`)
  }
  if (!(value >= 0)) throw new TypeError(`expected opts.${name} to be a non-negative number, got ${value}`)
  return Math.min(value, MAX_DURATION)
}

function readBoolean(name: string, value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') {
    throw new TypeError(`expected opts.${name} to be boolean or undefined, got ${typeName(value)}`)
  }
  return value === true
}

function readOrigins(origins: unknown): readonly (string | RegExp)[] | null {
  if (origins === undefined) return null
  if (!Array.isArray(origins)) {
    throw new TypeError(`expected opts.origins to be an array or undefined, got ${typeof origins}`)
  }
  return origins.map((origin: unknown, index) => {
    if (typeof origin === 'string') return comparableOrigin(origin)
    // A copy without the flags that make an expression remember where it stopped.
    if (origin instanceof RegExp) return new RegExp(origin.source, origin.flags.replaceAll(/[gy]/g, ''))
    throw new TypeError(`expected opts.origins[${index}] to be a string or RegExp, got ${typeof origin}`)
  })
}

function comparableOrigin(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text.toLowerCase()
}

function readTargets(targets: unknown): readonly string[] {
  if (targets === undefined) return []
  if (!Array.isArray(targets)) {
    throw new TypeError(`expected opts.targets to be an array or undefined, got ${typeName(targets)}`)
  }
  return targets.map((target: unknown, index) => {
    if (typeof target === 'string') return target.toLowerCase()
    throw new TypeError(`expected opts.targets[${index}] to be a string, got ${typeName(target)}`)
  })
}

function readName(value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string') {
    throw new TypeError(`expected opts.cacheStatus to be string or undefined, got ${typeName(value)}`)
  }
  const name = cacheName(value)
  if (name === null) throw new TypeError('expected opts.cacheStatus to have only printable ASCII characters')
  return name
}

function readPartition(value: unknown): ((opts: DispatchOptions) => string) | null {
  if (value === undefined) return null
  if (typeof value === 'function') return value as (opts: DispatchOptions) => string
  throw new TypeError(`expected opts.partition to be function or undefined, got ${typeName(value)}`)
}

export function isListed(origin: string, origins: readonly (string | RegExp)[] | null): boolean {
  if (origins === null) return true
  return origins.some((listed) => (typeof listed === 'string' ? listed === origin : listed.test(origin)))
}
