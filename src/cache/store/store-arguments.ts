/** Reads the arguments of the stores of the library, which may be used without the interceptor. */
import { ownMembers } from '../../base/object/own-options.ts'
import type { CacheKey, CacheValue } from './cache-store.ts'

const OF_KEY = Object.entries({ origin: 'string', method: 'string', path: 'string' })
const MAYBE_OF_KEY = Object.entries({ headers: 'object' })
const OF_VALUE = Object.entries({
  statusCode: 'number',
  cachedAt: 'number',
  staleAt: 'number',
  deleteAt: 'number',
})
const MAYBE_OF_VALUE = Object.entries({
  statusMessage: 'string',
  headers: 'object',
  cacheControlDirectives: 'object',
  vary: 'object',
  etag: 'string',
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

export function checkKey(key: CacheKey): void {
  expect('key', key, 'object')
  expectAll('key', key, OF_KEY, false)
  expectAll('key', key, MAYBE_OF_KEY, true)
}

export function checkValue(value: CacheValue): void {
  expect('value', value, 'object')
  expectAll('value', value, OF_VALUE, false)
  expectAll('value', value, MAYBE_OF_VALUE, true)
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

function expectAll(
  of: string,
  record: object,
  types: readonly (readonly [string, string])[],
  mayLack: boolean,
): void {
  for (const [name, type] of types) {
    const value = (record as Record<string, unknown>)[name]
    if (value !== undefined || !mayLack) expect(`${of}.${name}`, value, type)
  }
}

function expect(what: string, value: unknown, type: string): void {
  const actual = value === null ? 'null' : typeof value
  if (actual !== type) throw new TypeError(`expected ${what} to be ${type}, got ${actual}`)
}
