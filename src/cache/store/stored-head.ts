/** The fields of a stored response, as values and as text. */
import type { CacheValue } from './cache-store.ts'
import { flawOfHead } from './stored-check.ts'

/**
 * With what may be missing, and without what is not a part of it. Not a spread: the copy of a copy takes
 * several times the memory.
 */
export function withBody<B>(value: CacheValue, body: B): CacheValue & { body: B } {
  const { statusCode, statusMessage, vary, cachedAt, staleAt, deleteAt } = value
  const { headers, cacheControlDirectives, etag } = value as Partial<CacheValue>
  return {
    statusCode,
    statusMessage,
    headers: headers ?? {},
    vary,
    etag: etag ?? undefined,
    cacheControlDirectives: cacheControlDirectives ?? {},
    cachedAt,
    staleAt,
    deleteAt,
    body,
  }
}

export function writeHead(value: CacheValue): string {
  return JSON.stringify(withBody(value, undefined))
}

/** Null for text that is not a stored response: another program may write to the same place. */
export function readHead(text: string): CacheValue | null {
  try {
    const value = JSON.parse(text) as CacheValue
    return flawOfHead(value) === null ? value : null
  } catch {
    return null
  }
}
