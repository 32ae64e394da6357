/** A store in the memory of the process. */

import { EventEmitter } from 'node:events'
import type { Writable } from 'node:stream'
import { defineKind } from '../../base/object/kind.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { varyMatches, varyText } from '../rules/vary.ts'
import type { CacheGetResult, CacheKey, CacheValue, WholeEntry, WholeStore } from './cache-store.ts'
import { entryStream } from './entry-stream.ts'
import { sizeOf } from './found.ts'
import { checkedUrl, completed, storeOptions } from './store-arguments.ts'

/** The options of MemoryCacheStore. */
export interface MemoryCacheStoreOptions {
  /** Most responses. Default: 1024. */
  maxCount?: number | undefined
  /** Most bytes of all of them, with their headers. Default: 100 MiB. */
  maxSize?: number | undefined
  /** Most bytes of one body. Default: 5 MiB. */
  maxEntrySize?: number | undefined
}

const DEFAULTS = { maxCount: 1024, maxSize: 104_857_600, maxEntrySize: 5_242_880 }

/** Variants of one URL; then the oldest goes (`vary: user-agent` makes one for each browser). */
const MAX_VARIANTS = 32

/** What a response takes besides its bytes: objects, strings, places in maps. */
const FIXED_COST = 256

interface Kept {
  readonly method: string
  entry: WholeEntry
  size: number
}

/**
 * Keeps responses in memory, up to a number and a size. When it is full, the least recently used URLs go
 * until half is left, then the older variants of the newest URL, and `maxSizeExceeded` is emitted.
 *
 * @example
 * const store = new cacheStores.MemoryCacheStore({ maxSize: 10_000_000 })
 * const client = new Client('https://example.com').compose(interceptors.cache({ store }))
 */
export class MemoryCacheStore extends EventEmitter implements WholeStore {
  readonly #limits: typeof DEFAULTS
  /** By URL, the least recently used first. */
  #byUrl = new Map<string, Kept[]>()
  #size = 0
  #count = 0

  constructor(options?: MemoryCacheStoreOptions) {
    super()
    this.#limits = storeOptions('MemoryCacheStore', options, DEFAULTS)
  }

  /** Bytes of all responses, with their headers. */
  get size(): number {
    return this.#size
  }

  /** Most bytes of one body. */
  get maxEntrySize(): number {
    return this.#limits.maxEntrySize
  }

  /** Whether the next response makes others go. */
  isFull(): boolean {
    return this.#size >= this.#limits.maxSize || this.#count >= this.#limits.maxCount
  }

  get(key: CacheKey): CacheGetResult | undefined {
    const url = checkedUrl(key)
    const list = this.#byUrl.get(url)
    const kept = list === undefined ? undefined : find(list, key)
    if (kept === undefined) return undefined
    if (kept.entry.deleteAt <= Date.now()) {
      this.#remove(url, list!, kept)
      return undefined
    }
    // To the end: the most recently used.
    this.#byUrl.delete(url)
    this.#byUrl.set(url, list!)
    return { ...kept.entry, body: kept.entry.body as Buffer[] }
  }

  createWriteStream(key: CacheKey, value: CacheValue): Writable | undefined {
    return entryStream(this, key, value)
  }

  /** Stores a complete response. */
  set(key: CacheKey, given: WholeEntry): void {
    const url = checkedUrl(key, given)
    const entry = completed(given)
    const list = this.#byUrl.get(url) ?? []
    const same = varyText(entry.vary)
    const old = list.find((kept) => kept.method === key.method && varyText(kept.entry.vary) === same)
    if (old !== undefined) this.#remove(url, list, old)
    // It would have answered this request, but did not: the resource depends on other fields than before.
    const selected = find(list, key)
    if (selected !== undefined) this.#remove(url, list, selected)
    const body = sizeOf(entry.body)
    const size = body + sizeOfHead(url, entry)
    if (body > this.#limits.maxEntrySize || this.#limits.maxCount === 0) return
    if (size > this.#limits.maxSize) {
      this.#announceExcess(this.#size + size, this.#count + 1)
      return
    }
    if (list.length >= MAX_VARIANTS) this.#remove(url, list, list[0]!)
    list.push({ method: key.method, entry, size })
    this.#byUrl.delete(url)
    this.#byUrl.set(url, list)
    this.#size += size
    this.#count++
    if (this.#size > this.#limits.maxSize || this.#count > this.#limits.maxCount) this.#evict(url)
  }

  /** Replaces everything but the body, unless another response has taken the place of `previous`. */
  update(key: CacheKey, value: CacheValue, previous: CacheValue): void {
    const url = checkedUrl(key, value)
    // The copies that `get` returns share their parts with what is kept.
    const kept = this.#byUrl.get(url)?.find(({ entry }) => entry.headers === previous.headers)
    if (kept === undefined) return
    const size = sizeOf(kept.entry.body) + sizeOfHead(url, value)
    this.#size += size - kept.size
    kept.size = size
    kept.entry = { ...value, body: kept.entry.body }
  }

  delete(key: CacheKey): void {
    this.#forget(checkedUrl(key))
  }

  /** Removes everything. */
  clear(): void {
    this.#byUrl = new Map()
    this.#size = 0
    this.#count = 0
  }

  #forget(url: string): void {
    const list = this.#byUrl.get(url)
    if (list === undefined) return
    this.#byUrl.delete(url)
    for (const { size } of list) this.#size -= size
    this.#count -= list.length
  }

  #remove(url: string, list: Kept[], kept: Kept): void {
    list.splice(list.indexOf(kept), 1)
    this.#size -= kept.size
    this.#count--
    if (list.length === 0) this.#byUrl.delete(url)
  }

  /** Half at once: making room for a single response each time would cost each of them a search. */
  #evict(newest: string): void {
    const tooLarge = this.#size > this.#limits.maxSize
    const excess = { size: this.#size, count: this.#count }
    const size = tooLarge ? this.#limits.maxSize / 2 : this.#size
    const count = tooLarge ? this.#count : this.#limits.maxCount / 2
    const isOver = (): boolean => this.#size > size || this.#count > count
    for (const url of this.#byUrl.keys()) {
      if (!isOver()) break
      if (url !== newest) this.#forget(url)
    }
    // The last of its variants is the response that was just stored.
    const variants = this.#byUrl.get(newest)!
    while (isOver() && variants.length > 1) this.#remove(newest, variants, variants[0]!)
    this.#announceExcess(excess.size, excess.count)
  }

  #announceExcess(size: number, count: number): void {
    const { maxSize, maxCount } = this.#limits
    this.emit('maxSizeExceeded', { size, maxSize, count, maxCount })
  }
}

defineKind(MemoryCacheStore, 'ventuno.MemoryCacheStore')

/** The newest that fits (RFC 9111 §4.1). */
function find(list: readonly Kept[], key: CacheKey): Kept | undefined {
  return list.findLast(({ method, entry }) => method === key.method && varyMatches(entry.vary, key.headers))
}

function sizeOfHead(url: string, value: CacheValue): number {
  return FIXED_COST + 2 * url.length + sizeOfFields(value.headers) + sizeOfFields(value.vary)
}

function sizeOfFields(fields: HeaderObject | CacheValue['vary']): number {
  let size = 0
  for (const name in fields) {
    const value = fields[name]
    size += name.length
    if (typeof value === 'string') size += value.length
    else if (Array.isArray(value)) for (const line of value) size += line.length
  }
  return size
}
