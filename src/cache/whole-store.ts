/** Which stores of the library take complete responses: a subclass that changes how streams are written is used as any other. */
import type { CacheStore, WholeStore } from './cache-store.ts'
import { MemoryCacheStore } from './memory-store.ts'

export function wholeStoreOf(store: CacheStore): WholeStore | null {
  if (!(store instanceof MemoryCacheStore)) return null
  return store.createWriteStream === MemoryCacheStore.prototype.createWriteStream ? store : null
}
