/**
 * The only access to a store. A store of the caller may throw, reject, or return anything: all of that is a
 * miss, reported on the channel `ventuno:cache:error`, and never the end of a request.
 */

import type { Writable } from 'node:stream'
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { isThenable } from '../../base/loop/thenable.ts'
import { StoreAnswers } from '../../redis/store-answers.ts'
import { announcedLength } from '../../relay/fields.ts'
import type {
  CacheGetResult,
  CacheKey,
  CacheStore,
  CacheValue,
  WholeEntry,
  WholeStore,
} from './cache-store.ts'
import { blocksOf, type Found } from './found.ts'
import { reportStoreError as report, type StoreOperation } from './store-errors.ts'
import { flawOf } from './stored-check.ts'
import { withBody } from './stored-head.ts'
import { discardStream, StoredStream, writeTo } from './stored-stream.ts'
import { UnwrittenDeletes } from './unwritten-deletes.ts'
import { isInMemory, remembersDeletes, wholeStoreOf } from './whole-store.ts'

/** The largest body for a store that names no limit. */
const DEFAULT_MAX_ENTRY_SIZE = 5 * 1024 * 1024

/**
 * Milliseconds after which a store of the caller that has not answered counts as having nothing: a request
 * must not wait for ever, and one that goes to the origin is answered.
 */
const STORE_TIMEOUT = 5000

/** How long such a store is not asked, unless it answers after all: every request would wait for it again. */
const STORE_REST = 30_000

export class StoreAccess {
  readonly #store: CacheStore
  /** The same store, if it takes whole responses. */
  readonly #whole: WholeStore | null
  /** Null for a store that remembers its own. */
  readonly #deletes: UnwrittenDeletes | null
  readonly #answers = new StoreAnswers(STORE_TIMEOUT, STORE_REST, false)
  /**
   * The bodies of a store in memory that were checked, with their headers: once is enough for what does not
   * change.
   */
  readonly #checked: WeakMap<object, unknown> | null

  constructor(store: CacheStore) {
    this.#store = store
    this.#checked = isInMemory(store) ? new WeakMap() : null
    this.#whole = wholeStoreOf(store)
    this.#deletes = remembersDeletes(store) ? null : new UnwrittenDeletes((key) => store.delete(key), false)
  }

  get takesWhole(): boolean {
    return this.#whole !== null
  }

  get canUpdate(): boolean {
    return typeof this.#store.update === 'function'
  }

  /** Read each time: it may be a getter. */
  get maxEntrySize(): number {
    const { maxEntrySize } = this.#store
    return typeof maxEntrySize === 'number' && maxEntrySize >= 0 ? maxEntrySize : DEFAULT_MAX_ENTRY_SIZE
  }

  /** Synchronous where the store is. The promise never rejects. */
  get(key: CacheKey, now: number): Found | undefined | Promise<Found | undefined> {
    if (this.#answers.isResting || this.#deletes?.hides(key)) return undefined
    return tried('get', key, () => {
      const found = this.#store.get(key)
      if (!isThenable(found)) return this.#usable(key, found, now)
      // Our own remote store has a limit of its own.
      const answer =
        this.#deletes === null ? found : this.#answers.within(found, (late) => discardStream(late?.body))
      return answer.then((result) => this.#usable(key, result, now))
    })
  }

  /** Stores a response whose body is in memory. */
  store(key: CacheKey, entry: WholeEntry): void {
    const whole = this.#whole
    if (whole === null) {
      const { body, ...value } = entry
      const stream = this.createWriteStream(key, value, () => this.delete(key))
      if (stream !== undefined) writeTo(stream, body)
    } else if (this.#deletes?.admits(key) !== false) tried('write', key, () => whole.set(key, entry))
  }

  /** Undefined if the store does not want it. Errors of the stream are reported. */
  createWriteStream(key: CacheKey, value: CacheValue, onError: () => void): Writable | undefined {
    if (this.#deletes?.admits(key) === false) return undefined
    return tried('write', key, () => {
      const stream = this.#store.createWriteStream(key, value)
      ignoreRejection(stream)
      stream?.on('error', (error) => {
        report('write', key, error)
        onError()
      })
      return stream ?? undefined
    })
  }

  update(key: CacheKey, value: CacheValue, previous: CacheValue): void {
    tried('update', key, () => this.#store.update?.(key, value, previous))
  }

  delete(key: CacheKey): void {
    tried('delete', key, () => (this.#deletes ?? this.#store).delete(key))
  }

  /** What can be served: a response that could have been received, and is not past its time. */
  #usable(key: CacheKey, found: CacheGetResult | undefined, now: number): Found | undefined {
    if (found === undefined || found === null) return undefined
    const flaw = this.#flawOf(found, key.method)
    // The URL may have been removed while the store looked for it.
    const isHidden = this.#deletes?.hides(key) || this.#deletes?.isTrusted(found) === false
    if (flaw === null && !isHidden && found.deleteAt > now)
      return withBody(found, blocksOf(found.body) ?? this.#stream(key, found))
    discardStream(found.body)
    if (flaw !== null) {
      report('get', key, new Error(`the stored response is not one: ${flaw}`))
      this.delete(key)
    }
    return undefined
  }

  #flawOf(found: CacheGetResult, method: string): string | null {
    if (this.#checked === null) return flawOf(found, method)
    const { body, headers } = found
    if (this.#checked.get(body as object) === headers) return null
    const flaw = flawOf(found, method)
    if (flaw === null) this.#checked.set(body as object, headers)
    return flaw
  }

  /** What a stream brings is not known yet. */
  #stream(key: CacheKey, found: CacheGetResult): StoredStream {
    const announced = key.method === 'HEAD' ? null : announcedLength(found)
    const onFailure = (error: unknown): void => report('get', key, error)
    const onFlaw = (error: unknown): void => {
      onFailure(error)
      this.delete(key)
    }
    return new StoredStream(found.body as AsyncIterable<Uint8Array>, announced, { onFlaw, onFailure })
  }
}

/** Undefined if it throws or rejects, which is reported. */
function tried<T>(operation: StoreOperation, key: CacheKey, call: () => T): T | undefined {
  const fail = (error: unknown): undefined => report(operation, key, error) as undefined
  try {
    const result = call()
    return isThenable(result) ? (Promise.resolve(result).catch(fail) as T) : result
  } catch (error) {
    return fail(error)
  }
}
