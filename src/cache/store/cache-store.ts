/** What a store of responses is: the interface that the interceptor uses and that callers implement. */
import type { Readable, Writable } from 'node:stream'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { CacheControlDirectives } from '../../relay/cache-control.ts'
import type { VaryValues } from '../rules/vary.ts'

/** Names a response. */
export interface CacheKey {
  /** The normalised origin; after `#`, `host` and `servername` if they differ; after a space, a partition. */
  origin: string
  /** The method of the request. */
  method: string
  /** With the query. */
  path: string
  /** Of the request, names in lower case: they select among the variants of a URL. */
  headers?: HeaderObject
}

/** A stored response without its body. Times are milliseconds since 1970. */
export interface CacheValue {
  /** The status of the response. */
  statusCode: number
  /** The reason phrase; may be empty. */
  statusMessage: string
  /** The fields of the response, names in lower case. */
  headers: HeaderObject
  /** Request fields that the response depends on, with the value they had; null for an absent one. */
  vary?: VaryValues | undefined
  /** The entity tag that revalidation asks with. */
  etag?: string | undefined
  /** What the response says about caching it. */
  cacheControlDirectives: CacheControlDirectives
  /** When the response was created, as far as its age is known. */
  cachedAt: number
  /** Until when it is fresh. */
  staleAt: number
  /** When it is of no use any more. */
  deleteAt: number
}

/** The bodies that a store may return. */
export type StoredBody =
  | Readable
  | Iterable<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>
  | Buffer
  | string

/** A response that a store has found. */
export interface CacheGetResult extends CacheValue {
  /** The stored body; undefined stands for an empty one. */
  body?: StoredBody | undefined
}

/** A place for responses. Its methods may throw or reject: a store that fails never fails a request. */
export interface CacheStore {
  /** The response for this key whose `vary` fits the headers of the key. */
  get(key: CacheKey): CacheGetResult | undefined | Promise<CacheGetResult | undefined>
  /** A stream for the body, which is stored when it has finished; undefined if it is not to be stored. */
  createWriteStream(key: CacheKey, value: CacheValue): Writable | undefined
  /** Removes all that is stored for the origin and the path: every method, every variant. */
  delete(key: CacheKey): void | Promise<void>
  /**
   * Replaces everything but the body of `previous`, after a 304. If another response has taken its place
   * meanwhile, that one must stay as it is. Without this method, the interceptor writes the response again,
   * with its body.
   */
  update?(key: CacheKey, value: CacheValue, previous: CacheValue): void | Promise<void>
  /** Most bytes of one body; a longer one is not passed to the store. Default: 5 MiB. */
  readonly maxEntrySize?: number
}

/** A response whose body is at hand. */
export interface WholeEntry extends CacheValue {
  body: readonly Buffer[]
}

/** Stores of the library take a complete response in one synchronous call. */
export interface WholeStore extends CacheStore {
  readonly maxEntrySize: number
  set(key: CacheKey, entry: WholeEntry): void
}
