/** Reads the arguments of the stores of the library, which may be used without the interceptor. */
import { ownMembers } from '../../base/object/own-options.ts'
import { typeName } from '../../options.ts'
import type { CacheKey, CacheValue } from './cache-store.ts'

/** What `typeof` may say about each member; the first is named in the error. */
const STRING = ['string']
const NUMBER = ['number']
const MAYBE_STRING = ['string', 'undefined']
const MAYBE_OBJECT = ['object', 'undefined']
const OF_KEY = Object.entries({ origin: STRING, method: STRING, path: STRING, headers: MAYBE_OBJECT })
const OF_TIMES = { statusCode: NUMBER, cachedAt: NUMBER, staleAt: NUMBER, deleteAt: NUMBER }
const OF_FIELDS = { headers: MAYBE_OBJECT, cacheControlDirectives: MAYBE_OBJECT, vary: MAYBE_OBJECT }
const OF_VALUE = Object.entries({
  ...OF_TIMES,
  statusMessage: MAYBE_STRING,
  ...OF_FIELDS,
  etag: MAYBE_STRING,
})

/** The options of a store; `limits` are the defaults of those that are non-negative integers. */
export function storeOptions<T extends object, L extends keyof T & string>(
  store: string,
  given: T | undefined,
  limits: Readonly<Record<L, number>>,
): T & Record<L, number> {
  if (given !== undefined && (typeof given !== 'object' || given === null)) {
    throw new TypeError(`${store} options must be an object`)
  }
  const own = Object.assign(Object.create(null), ownMembers(given)) as T & Record<L, number>
  for (const name of Object.keys(limits) as L[]) {
    if (own[name] === undefined) own[name] = limits[name] as never
    if (own[name] === limits[name] || (Number.isInteger(own[name]) && own[name] >= 0)) continue
    throw new TypeError(`${store} options.${name} must be a non-negative integer`)
  }
  return own
}

/** The URL of a key that has all it needs, as the value has, if there is one. */
export function checkedUrl(key: CacheKey, ...values: readonly CacheValue[]): string {
  expectAll('key', key, OF_KEY)
  for (const value of values) expectAll('value', value, OF_VALUE)
  return urlOf(key)
}

/** The same value with what may be missing. */
export function completed<T extends CacheValue>(value: T): T {
  const { headers = {}, cacheControlDirectives = {}, statusMessage = '' } = value as Partial<CacheValue>
  return { ...value, headers, cacheControlDirectives, statusMessage }
}

/**
 * What is stored under one URL is removed together. Request targets have no spaces, so the origin, which has
 * one before a partition, cannot be taken for part of one.
 */
export function urlOf({ origin, path }: CacheKey): string {
  return `${path} ${origin}`
}

function expectAll(what: string, record: object, members: readonly (readonly [string, string[]])[]): void {
  if (typeName(record) !== 'object') throw wrong(what, 'object', record)
  for (const [name, types] of members) {
    const value = (record as Record<string, unknown>)[name]
    if (!types.includes(typeName(value))) throw wrong(`${what}.${name}`, types[0]!, value)
  }
}

function wrong(what: string, type: string, value: unknown): TypeError {
  return new TypeError(`expected ${what} to be ${type}, got ${typeName(value)}`)
}
