/** Checks the arguments of a store's methods: it may be used without the interceptor. */
import type { CacheKey, CacheValue } from './cache-store.ts'

export function checkKey(key: CacheKey): void {
  if (typeof key !== 'object' || key === null) throw wrong('key', 'object', key)
  if (typeof key.origin !== 'string') throw wrong('key.origin', 'string', key.origin)
  if (typeof key.method !== 'string') throw wrong('key.method', 'string', key.method)
  if (typeof key.path !== 'string') throw wrong('key.path', 'string', key.path)
  if (key.headers !== undefined && (typeof key.headers !== 'object' || key.headers === null)) {
    throw wrong('key.headers', 'object', key.headers)
  }
}

export function checkValue(value: CacheValue): void {
  if (typeof value !== 'object' || value === null) throw wrong('value', 'object', value)
  for (const name of ['statusCode', 'cachedAt', 'staleAt', 'deleteAt'] as const) {
    if (typeof value[name] !== 'number') throw wrong(`value.${name}`, 'number', value[name])
  }
  if (value.statusMessage !== undefined && typeof value.statusMessage !== 'string')
    throw wrong('value.statusMessage', 'string', value.statusMessage)
  for (const name of ['headers', 'cacheControlDirectives'] as const) {
    if (value[name] !== undefined && (typeof value[name] !== 'object' || value[name] === null))
      throw wrong(`value.${name}`, 'object', value[name])
  }
  if (value.vary !== undefined && (typeof value.vary !== 'object' || value.vary === null)) {
    throw wrong('value.vary', 'object', value.vary)
  }
  if (value.etag !== undefined && typeof value.etag !== 'string')
    throw wrong('value.etag', 'string', value.etag)
}

/** The same value with what may be missing. */
export function completed<T extends CacheValue>(value: T): T {
  const { headers = {}, cacheControlDirectives = {}, statusMessage = '' } = value as Partial<CacheValue>
  return { ...value, headers, cacheControlDirectives, statusMessage }
}

function wrong(what: string, expected: string, value: unknown): TypeError {
  return new TypeError(`expected ${what} to be ${expected}, got ${value === null ? 'null' : typeof value}`)
}
