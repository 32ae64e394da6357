/** The stores of the library, under one name. */
import { MemoryCacheStore } from './memory-store.ts'

/** Stores for `interceptors.cache()`. */
export const cacheStores: {
  readonly MemoryCacheStore: typeof MemoryCacheStore
} = { MemoryCacheStore }
