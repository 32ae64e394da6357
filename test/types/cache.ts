/** The types of the cache, as callers use them. */
import { Writable } from 'node:stream'
import {
  type CacheGetResult,
  type CacheKey,
  type CacheOptions,
  type CacheStore,
  type CacheValue,
  Client,
  cacheStores,
  type Interceptor,
  interceptors,
} from '../../src/index.ts'

/** A store that others wrote for undici: no more than three methods. */
class Three implements CacheStore {
  get(_key: CacheKey): Promise<CacheGetResult | undefined> {
    return Promise.resolve(undefined)
  }

  createWriteStream(_key: CacheKey, _value: CacheValue): Writable {
    return new Writable()
  }

  delete(_key: CacheKey): void {}
}

export const options: CacheOptions = {
  store: new Three(),
  methods: ['GET', 'HEAD'],
  type: 'private',
  origins: ['http://a.test', /b/],
  partition: ({ path }) => path,
}
export const interceptor: Interceptor = interceptors.cache(options)
export const client: Client = new Client('http://localhost:1').compose(
  interceptors.cache({ store: new cacheStores.MemoryCacheStore({ maxCount: 5 }) }),
)

// @ts-expect-error POST cannot be stored
interceptors.cache({ methods: ['POST'] })
// @ts-expect-error a store has three methods
interceptors.cache({ store: { get: () => undefined } })
