/** What our stores do beyond the interface. A subclass that overrides it is used as any other store. */
import type { CacheStore, WholeStore } from './cache-store.ts'
import { MemoryCacheStore } from './memory-store.ts'
import { RedisCacheStore } from './redis-store.ts'
import { SqliteCacheStore } from './sqlite-store.ts'

/** Null for a store that does not take complete responses. */
export function wholeStoreOf(store: CacheStore): WholeStore | null {
  for (const kind of [MemoryCacheStore, SqliteCacheStore]) {
    if (store instanceof kind && store.createWriteStream === kind.prototype.createWriteStream) return store
  }
  return null
}

/** Whether what the store returns is what was put into it. No other program writes to this memory. */
export function isInMemory(store: CacheStore): boolean {
  return store instanceof MemoryCacheStore && store.get === MemoryCacheStore.prototype.get
}

/** Whether the store itself remembers what it could not remove. */
export function remembersDeletes(store: CacheStore): boolean {
  return [MemoryCacheStore, SqliteCacheStore, RedisCacheStore].some(
    (kind) => store instanceof kind && store.delete === kind.prototype.delete,
  )
}
