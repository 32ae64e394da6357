import { type Cache, type CacheStorage, caches, fetch, Request, type Response } from 'undici'

export async function cached(url: string): Promise<Response> {
  const cache: Cache = await caches.open('v1')
  const found = await cache.match(url)
  if (found) return found
  const response = await fetch(url)
  await cache.put(new Request(url), response.clone())
  await cache.delete(url, { ignoreSearch: true })
  void [await cache.keys(), await caches.keys(), await caches.has('v1'), await caches.delete('v0')]
  return response
}
export const storage: CacheStorage = caches
