// biome-ignore-all lint/complexity/noArguments: Web IDL counts arguments, even if they are undefined
/** The caches of the process, by name (Service Workers §5.5). */
import { ownMembers } from '../base/object/own-options.ts'
import type { RequestInput } from '../fetch/declared-classes.ts'
import type { Response } from '../fetch/response.ts'
import { requireArguments, toDictionary, toText } from '../web/idl.ts'
import { defineInterface } from '../web/interface.ts'
import { type Cache, type CacheQueryOptions, cacheOf } from './cache.ts'
import { Entries } from './entries.ts'

/** How exactly a request has to match, and where. */
export interface MultiCacheQueryOptions extends CacheQueryOptions {
  /** The only cache to look into. Default: all, in the order in which they were opened. */
  cacheName?: string | undefined
}

/** Passed to the constructor only from within this package. */
const INTERNAL = Symbol('internal')

class MemoryCacheStorage {
  readonly #caches = new Map<string, Entries>()

  constructor(key: unknown = undefined) {
    if (key !== INTERNAL) throw new TypeError('TypeError: Illegal constructor')
  }

  /** The first stored response for a request; undefined if there is none. */
  async match(
    request: RequestInput,
    options: MultiCacheQueryOptions | null | undefined = undefined,
  ): Promise<Response | undefined> {
    requireArguments(arguments.length, 1, 'CacheStorage.match')
    const given: MultiCacheQueryOptions = ownMembers(toDictionary(options, 'CacheStorage.match') ?? {})
    const { cacheName } = given
    const only = cacheName === undefined ? null : toText(cacheName, 'CacheStorage.match', 'cacheName')
    for (const [name, entries] of this.#caches) {
      if (only !== null && only !== name) continue
      const response = await cacheOf(entries).match(request, given)
      if (response !== undefined) return response
    }
    return undefined
  }

  /** Whether there is a cache of this name. */
  async has(cacheName: string): Promise<boolean> {
    requireArguments(arguments.length, 1, 'CacheStorage.has')
    return this.#caches.has(toText(cacheName, 'CacheStorage.has', 'cacheName'))
  }

  /** The cache of this name, made if there is none. Each call returns another object. */
  async open(cacheName: string): Promise<Cache> {
    requireArguments(arguments.length, 1, 'CacheStorage.open')
    const name = toText(cacheName, 'CacheStorage.open', 'cacheName')
    const entries = this.#caches.get(name) ?? new Entries()
    this.#caches.set(name, entries)
    return cacheOf(entries)
  }

  /** Whether there was one to delete. */
  async delete(cacheName: string): Promise<boolean> {
    requireArguments(arguments.length, 1, 'CacheStorage.delete')
    return this.#caches.delete(toText(cacheName, 'CacheStorage.delete', 'cacheName'))
  }

  /** The names, in the order in which they were opened. */
  async keys(): Promise<string[]> {
    return [...this.#caches.keys()]
  }
}

defineInterface(MemoryCacheStorage, 'CacheStorage')

/** Caches by name. */
export interface CacheStorage extends Pick<MemoryCacheStorage, keyof MemoryCacheStorage> {}

/** Caches in memory, for the life of the process. Nothing in them expires. */
export const caches: CacheStorage = new MemoryCacheStorage(INTERNAL)
