/** A stored response without its body, as text. */
import type { CacheValue } from './cache-store.ts'
import { flawOfHead } from './stored-check.ts'

const NAMES = [
  'statusCode',
  'statusMessage',
  'headers',
  'vary',
  'etag',
  'cacheControlDirectives',
  'cachedAt',
  'staleAt',
  'deleteAt',
] as const satisfies readonly (keyof CacheValue)[]

export function writeHead(value: CacheValue): string {
  return JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, value[name]])))
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
