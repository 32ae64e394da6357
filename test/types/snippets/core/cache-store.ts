import { Writable } from 'node:stream'
import { Agent, cacheStores, interceptors } from 'undici'

const memory = new cacheStores.MemoryCacheStore({
  maxSize: 1024,
  maxCount: 10,
  maxEntrySize: 100,
})
const sqlite = new cacheStores.SqliteCacheStore({ location: ':memory:', maxCount: 1, maxEntrySize: 2 })
class Forget {
  get(_key: { origin: string; method: string; path: string }): undefined {
    return undefined
  }
  createWriteStream(): Writable {
    return new Writable()
  }
  delete(): void {}
}
export const agents = [memory, sqlite, new Forget()].map((store) =>
  new Agent().compose(interceptors.cache({ store })),
)
