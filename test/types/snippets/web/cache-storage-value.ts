import { type Cache, CacheStorage, caches } from 'undici'

const storage: CacheStorage = caches
export const isStorage = (value: unknown): value is CacheStorage => value instanceof CacheStorage
export const prototype: CacheStorage = CacheStorage.prototype
export const opened = (): Promise<Cache> => storage.open('v1')
