/**
 * A store in Redis, Valkey, or anything else that keeps values under keys, for caches of several processes.
 *
 * A URL has an index: a generation, and the request fields that its responses depend on. A response is stored
 * under the URL, the generation, the method and the values of these fields. To remove all of them, the index
 * is removed: the next one has another generation, so a response that was stored never comes back. A write
 * that has not read the index yet would make the next one, so the writes of this process end when their URL
 * is removed. Those of other processes do not. Long bodies are stored in parts under a name that is used
 * once. The response itself comes last, in one write: readers see all of the old one or all of the new one.
 */

import { Buffer } from 'node:buffer'
import type { Writable } from 'node:stream'
import { loadCrypto } from '../../base/node/lazy-modules.ts'
import { defineKind } from '../../base/object/kind.ts'
import {
  keyValueClient,
  type RedisClient,
  type RemoteClient,
  withTimeLimit,
} from '../../redis/redis-client.ts'
import { StoreAnswers } from '../../redis/store-answers.ts'
import { DAY } from '../rules/freshness.ts'
import { varyMatches, varyText, varyValues } from '../rules/vary.ts'
import type { CacheGetResult, CacheKey, CacheStore, CacheValue } from './cache-store.ts'
import { OpenStreams } from './open-streams.ts'
import { partStream, type StoredParts } from './part-stream.ts'
import { checkedUrl, completed, storeOptions, urlOf } from './store-arguments.ts'
import { reportStoreError } from './store-errors.ts'
import { readHead, writeHead } from './stored-head.ts'
import { UnwrittenDeletes } from './unwritten-deletes.ts'

/** The options of RedisCacheStore. */
export interface RedisCacheStoreOptions {
  /** A connected client of the `redis` or `ioredis` package, or an object with `get`, `set` and `delete`. */
  client: RedisClient
  /** What all keys begin with. Default: `ventuno:cache:`. */
  prefix?: string | undefined
  /** Most bytes of one body. Default: 5 MiB. */
  maxEntrySize?: number | undefined
  /**
   * Milliseconds after which the store counts as failed, and the request goes on without it. Default: 500.
   */
  timeout?: number | undefined
}

interface Index {
  readonly generation: string
  readonly names: readonly string[]
  /** When it is forgotten. */
  readonly until: number
}

/** An index outlives most responses and is rarely written: a new one forgets the variants of the URL. */
const INDEX_LIFE = 7 * DAY

/** How long a store that has failed is left alone: its client may queue commands while it is disconnected. */
const REST_MS = 1000

/** The first bytes of a value: the length of its head. */
const LENGTH_BYTES = 4

/**
 * Shares responses among processes.
 *
 * @example
 * const store = new cacheStores.RedisCacheStore({ client: await createClient().connect() })
 */
export class RedisCacheStore implements CacheStore {
  readonly #remote: RemoteClient
  readonly #answers: StoreAnswers
  readonly #prefix: string
  readonly #maxEntrySize: number
  readonly #writing = new OpenStreams()
  readonly #deletes = new UnwrittenDeletes(
    async (key) => void (await this.#remote.delete([this.#urlKey(key)])),
    false,
  )

  constructor(options: RedisCacheStoreOptions) {
    // The client is required, so that undefined is an error here.
    const own = storeOptions('RedisCacheStore', options ?? null, { maxEntrySize: 5_242_880, timeout: 500 })
    const { prefix = 'ventuno:cache:', maxEntrySize, timeout } = own
    if (typeof prefix !== 'string') throw new TypeError('RedisCacheStore options.prefix must be a string')
    const client = keyValueClient(own.client)
    if (client === null) {
      throw new TypeError(
        'RedisCacheStore options.client must be a client of redis or ioredis, or have get, set and delete',
      )
    }
    this.#prefix = prefix
    this.#maxEntrySize = maxEntrySize
    this.#answers = new StoreAnswers(timeout, REST_MS, true)
    this.#remote = withTimeLimit(client, this.#answers)
  }

  /** Most bytes of one body. */
  get maxEntrySize(): number {
    return this.#maxEntrySize
  }

  async get(key: CacheKey): Promise<CacheGetResult | undefined> {
    checkedUrl(key)
    if (this.#answers.isResting || this.#deletes.hides(key)) return undefined
    const url = this.#urlKey(key)
    const index = await this.#index(url)
    if (index === null) return undefined
    const bytes = await this.#remote.get(entryKey(url, index, key))
    if (bytes === null) return undefined
    const found = readEntry(bytes, url)
    if (found === null) {
      reportStoreError('get', key, new Error('the stored response cannot be read'))
      await this.delete(key)
      return undefined
    }
    if (!varyMatches(found.value.vary, key.headers) || found.value.deleteAt <= Date.now()) {
      return undefined
    }
    // All of it before any of it is served: a part may have been evicted, and then the response is a miss.
    const parts = await Promise.all(found.parts.names.map((name) => this.#remote.get(name)))
    if (parts.some((part) => part === null)) return undefined
    const body = Buffer.concat([...(parts as Buffer[]), found.rest])
    // The URL may have been removed meanwhile.
    if (body.length !== found.parts.size || this.#deletes.hides(key)) return undefined
    return this.#deletes.isTrusted(found.value) ? { ...found.value, body } : undefined
  }

  createWriteStream(key: CacheKey, given: CacheValue): Writable | undefined {
    checkedUrl(key, given)
    if (this.#answers.isResting) return undefined
    const value = completed(given)
    const url = this.#urlKey(key)
    const life = value.deleteAt - Date.now()
    if (life <= 0) return undefined
    const place = { remote: this.#remote, name: `${url}:${randomName()}`, life, limit: this.#maxEntrySize }
    const stream = partStream(place, async (parts, rest) => {
      // Its generation would bring the others of the URL back.
      await this.#deletes.settle(key)
      const index = await this.#indexFor(stream, url, value)
      if (index === null) return
      const head = Buffer.from(JSON.stringify({ head: writeHead(value), parts }))
      const length = Buffer.alloc(LENGTH_BYTES)
      length.writeUInt32BE(head.length)
      const bytes = Buffer.concat([length, head, rest])
      await this.#remote.set(entryKey(url, index, key), bytes, value.deleteAt - Date.now())
    })
    this.#writing.add(url, stream)
    return stream
  }

  async delete(key: CacheKey): Promise<void> {
    checkedUrl(key)
    const url = this.#urlKey(key)
    this.#writing.destroy(url)
    await this.#deletes.delete(key)
  }

  /**
   * The index to store a response under; null if the URL was removed, which each step looks for, because the
   * stream is destroyed then.
   */
  async #indexFor(stream: Writable, url: string, value: CacheValue): Promise<Index | null> {
    const names = Object.keys(value.vary ?? {}).sort()
    let index = await this.#index(url)
    if (stream.destroyed) return null
    if (index === null || index.until < value.deleteAt || index.names.join() !== names.join()) {
      const life = Math.max(INDEX_LIFE, value.deleteAt - Date.now())
      index = { generation: randomName(), names, until: Date.now() + life }
      await this.#remote.set(url, Buffer.from(JSON.stringify(index)), life)
    }
    return stream.destroyed ? null : index
  }

  async #index(url: string): Promise<Index | null> {
    const bytes = await this.#remote.get(url)
    try {
      const index = bytes === null ? null : (JSON.parse(bytes.toString()) as Index)
      return typeof index?.generation === 'string' && Array.isArray(index.names) ? index : null
    } catch {
      return null
    }
  }

  #urlKey(key: CacheKey): string {
    return this.#prefix + hash(urlOf(key))
  }
}

defineKind(RedisCacheStore, 'ventuno.RedisCacheStore')

function entryKey(url: string, index: Index, key: CacheKey): string {
  const variant = varyText(varyValues(index.names, key.headers ?? {}))
  return `${url}:${index.generation}:${key.method}:${variant === '' ? '' : hash(variant)}`
}

function readEntry(
  bytes: Buffer,
  url: string,
): { value: CacheValue; parts: StoredParts; rest: Buffer } | null {
  try {
    const end = LENGTH_BYTES + bytes.readUInt32BE(0)
    const { head, parts } = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end)) as {
      head: string
      parts: StoredParts
    }
    const value = readHead(head)
    if (value === null || !Array.isArray(parts.names)) return null
    // No other key of the server is read.
    const isOwn = parts.names.every((name) => typeof name === 'string' && name.startsWith(`${url}:`))
    return isOwn ? { value, parts, rest: bytes.subarray(end) } : null
  } catch {
    return null
  }
}

function hash(text: string): string {
  return loadCrypto().createHash('sha256').update(text).digest('base64url')
}

function randomName(): string {
  return loadCrypto().randomBytes(9).toString('base64url')
}
