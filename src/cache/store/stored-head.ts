/** A stored response without its body, as text. */
import type { CacheValue } from './cache-store.ts'
import { flawOfHead } from './stored-check.ts'

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
    return flawOfHead(value) === null ? value : null
  } catch {
    return null
  }
}
