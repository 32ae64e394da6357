// Caches as programs declare them. Compiled, never run.
import {
  type Cache,
  type CacheQueryOptions,
  type CacheStorage,
  caches,
  type MultiCacheQueryOptions,
  Request,
  Response,
} from '../../src/index.ts'

const options: CacheQueryOptions = { ignoreSearch: true }
const anywhere: MultiCacheQueryOptions = { ...options, cacheName: 'a' }

export async function use(storage: CacheStorage = caches): Promise<readonly Request[]> {
  const cache: Cache = await storage.open('a')
  await cache.addAll(['http://a.test', new Request('http://b.test')] as const)
  await cache.put(new URL('http://c.test'), new Response('x'))
  await cache.put('http://d.test', new globalThis.Response('x'))
  const found: Response | undefined = await storage.match('http://a.test', anywhere)
  console.log(await found?.text(), await cache.delete('http://a.test', options))
  return cache.keys()
}
