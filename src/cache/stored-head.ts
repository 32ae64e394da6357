/** A stored response without its body, as text. */
import type { CacheValue } from './cache-store.ts'
import type { VaryValues } from './vary.ts'

export function writeHead(value: CacheValue): string {
  const {
    statusCode,
    statusMessage,
    headers,
    vary,
    etag,
    cacheControlDirectives,
    cachedAt,
    staleAt,
    deleteAt,
  } = value
  return JSON.stringify({
    statusCode,
    statusMessage,
    headers,
    vary,
    etag,
    cacheControlDirectives,
    cachedAt,
    staleAt,
    deleteAt,
  })
}

/** Null for text that is none: another program may write to the same place. */
export function readHead(text: string): CacheValue | null {
  try {
    const value = JSON.parse(text) as CacheValue
    if (typeof value.statusCode !== 'number' || typeof value.headers !== 'object' || value.headers === null)
      return null
    if (typeof value.staleAt !== 'number' || typeof value.deleteAt !== 'number') return null
    if (value.vary !== undefined) {
      const vary: VaryValues = Object.assign(Object.create(null), value.vary)
      return { ...value, vary }
    }
    return value
  } catch {
    return null
  }
}
