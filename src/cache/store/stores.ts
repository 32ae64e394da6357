/** The stores of the library, under one name. */
import { MemoryCacheStore } from './memory-store.ts'
import { RedisCacheStore } from './redis-store.ts'
import { SqliteCacheStore } from './sqlite-store.ts'

/** Stores for `interceptors.cache()`. */
export const cacheStores: {
  readonly MemoryCacheStore: typeof MemoryCacheStore
  readonly RedisCacheStore: typeof RedisCacheStore
  readonly SqliteCacheStore: typeof SqliteCacheStore
} = { MemoryCacheStore, RedisCacheStore, SqliteCacheStore }
