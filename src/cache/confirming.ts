/** Brings a stored response up to date after the origin has confirmed it (RFC 9111 §4.3.4). */
import type { HeaderObject } from '../protocol/header-block.ts'
import type { BodyReader, BodyWaiter } from '../relay/body-log.ts'
import { BodyLog } from '../relay/body-log.ts'
import type { CacheSettings } from './options.ts'
import { entryOf, mergedHeaders } from './rules/entry.ts'
import type { ResponseFacts } from './rules/freshness.ts'
import { storingRefusal } from './rules/storability.ts'
import { controlOf } from './rules/targeted-control.ts'
import { blocksOf } from './store/body-readers.ts'
import type { CacheGetResult, CacheKey, CacheValue } from './store/cache-store.ts'
import type { StoreAccess } from './store/store-access.ts'
import { storeWhole } from './store/storing.ts'

/** The facts of a response whose head has just arrived. */
export function factsOf(
  statusCode: number,
  headers: HeaderObject,
  requestTime: number,
  settings: CacheSettings,
): ResponseFacts {
  return {
    statusCode,
    headers,
    ...controlOf(headers, settings.targets),
    requestTime,
    responseTime: Date.now(),
  }
}

export interface Confirmed {
  readonly value: CacheValue
  /** What the store still needs: `body` if the response has to be written again, with its body. */
  readonly left: 'nothing' | 'body'
}

/** The stored response with the news of a 304 or a HEAD. The store gets it as well; `access` is null if it must not. */
export function confirmed(
  access: StoreAccess | null,
  key: CacheKey,
  entry: CacheGetResult,
  news: ResponseFacts,
  request: HeaderObject,
  settings: CacheSettings,
): Confirmed {
  const headers = mergedHeaders(entry.headers, news.headers, news.responseTime)
  const facts: ResponseFacts = {
    statusCode: entry.statusCode,
    headers,
    ...controlOf(headers, settings.targets),
    requestTime: news.requestTime,
    responseTime: news.responseTime,
  }
  const value = entryOf(facts, entry.statusMessage, request, settings, settings.staleIfError)
  // What was stored for other users is still theirs: this request only has more credentials than the first one.
  const refusal = storingRefusal(facts, {}, {}, settings)
  if (entry.vary !== undefined) value.vary = entry.vary
  if (access === null) return { value, left: 'nothing' }
  if (refusal !== null) {
    access.delete(key)
    return { value, left: 'nothing' }
  }
  if (access.canUpdate) {
    access.update(key, value, entry)
    return { value, left: 'nothing' }
  }
  const blocks = blocksOf(entry.body)
  if (blocks === null) return { value, left: 'body' }
  storeWhole(access, key, value, blocks)
  return { value, left: 'nothing' }
}

/** Whose response is written again. */
export interface Rewriting {
  /** The URL was invalidated meanwhile. */
  readonly isInvalidated: boolean
  /** Nothing more is written. */
  onRewritten(): void
}

/** Keeps a copy of a body that is read, and stores it at the end. */
export class RewritingReader implements BodyReader {
  readonly #owner: Rewriting
  readonly #reader: BodyReader
  readonly #access: StoreAccess
  readonly #key: CacheKey
  readonly #value: CacheValue
  #log: BodyLog | null = new BodyLog()

  constructor(owner: Rewriting, reader: BodyReader, access: StoreAccess, key: CacheKey, value: CacheValue) {
    this.#owner = owner
    this.#reader = reader
    this.#access = access
    this.#key = key
    this.#value = value
  }

  read(waiter: BodyWaiter): Buffer | null | undefined {
    const chunk = this.#reader.read(waiter)
    if (chunk === undefined || this.#log === null) return chunk
    if (chunk === null) {
      if (!this.#owner.isInvalidated) storeWhole(this.#access, this.#key, this.#value, this.#log.blocks())
      this.#log = null
    } else if (this.#log.size + chunk.length > this.#access.maxEntrySize) {
      this.#log = null
    } else {
      this.#log.append(chunk)
    }
    return chunk
  }

  close(): void {
    this.#log = null
    this.#owner.onRewritten()
    this.#reader.close()
  }
}
