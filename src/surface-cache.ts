/** `ventuno/cache`: the stores of the cache of responses. */

export type { CacheMethods, CacheOptions } from './cache/options.ts'
export type {
  CacheGetResult,
  CacheKey,
  CacheStore,
  CacheValue,
  StoredBody,
} from './cache/store/cache-store.ts'
export type { MemoryCacheStoreOptions } from './cache/store/memory-store.ts'
export type { RedisCacheStoreOptions } from './cache/store/redis-store.ts'
export type { SqliteCacheStoreOptions } from './cache/store/sqlite-store.ts'
export * as cacheStores from './cache/store/stores.ts'
export type {
  IoRedisClient,
  KeyValueClient,
  NodeRedisClient,
  RedisClient,
} from './redis/redis-client.ts'
