/** The stores for `interceptors.cache()`, as one namespace. */
export { MemoryCacheStore } from './memory-store.ts'
export { RedisCacheStore } from './redis-store.ts'
export { SqliteCacheStore } from './sqlite-store.ts'
