/** Which stores of the library take complete responses: a subclass that changes how streams are written is used as any other. */
import type { CacheStore, WholeStore } from './cache-store.ts'
import { MemoryCacheStore } from './memory-store.ts'
import { SqliteCacheStore } from './sqlite-store.ts'

export function wholeStoreOf(store: CacheStore): WholeStore | null {
  for (const kind of [MemoryCacheStore, SqliteCacheStore]) {
    if (store instanceof kind && store.createWriteStream === kind.prototype.createWriteStream) return store
  }
  return null
}
