/**
 * The only way to a store. A store of the caller may throw, reject, or return anything: all of that is a miss, reported
 * on the channel `ventuno:cache:error`, and never the end of a request.
 */

import type { Writable } from 'node:stream'
import { ignoreRejection } from '../base/stray-promise.ts'
import { channels } from '../diagnostics.ts'
import type {
  CacheGetResult,
  CacheKey,
  CacheStore,
  CacheValue,
  WholeEntry,
  WholeStore,
} from './cache-store.ts'

/** The largest body for a store that names no limit. */
const DEFAULT_MAX_ENTRY_SIZE = 5 * 1024 * 1024

export type StoreOperation = 'get' | 'write' | 'update' | 'delete'

export class StoreAccess {
  readonly #store: CacheStore
  /** The same store, if it takes whole responses. */
  readonly #whole: WholeStore | null

  constructor(store: CacheStore, whole: WholeStore | null) {
    this.#store = store
    this.#whole = whole
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
  get(key: CacheKey, now: number): CacheGetResult | undefined | Promise<CacheGetResult | undefined> {
    try {
      const found = this.#store.get(key)
      if (!isThenable(found)) return usable(found, now)
      return Promise.resolve(found).then(
        (result) => usable(result, now),
        (error: unknown) => {
          report('get', key, error)
          return undefined
        },
      )
    } catch (error) {
      report('get', key, error)
      return undefined
    }
  }

  set(key: CacheKey, entry: WholeEntry): void {
    try {
      this.#whole!.set(key, entry)
    } catch (error) {
      report('write', key, error)
    }
  }

  /** Undefined if the store does not want it. Errors of the stream are reported. */
  createWriteStream(key: CacheKey, value: CacheValue, onError: () => void): Writable | undefined {
    try {
      const stream = this.#store.createWriteStream(key, value)
      ignoreRejection(stream)
      if (stream === undefined || stream === null) return undefined
      stream.on('error', (error) => {
        report('write', key, error)
        onError()
      })
      return stream
    } catch (error) {
      report('write', key, error)
      return undefined
    }
  }

  update(key: CacheKey, value: CacheValue, previous: CacheValue): void {
    this.#run('update', key, () => this.#store.update?.(key, value, previous))
  }

  delete(key: CacheKey): void {
    this.#run('delete', key, () => this.#store.delete(key))
  }

  #run(operation: StoreOperation, key: CacheKey, call: () => unknown): void {
    try {
      const done = call()
      if (isThenable(done)) done.then(undefined, (error: unknown) => report(operation, key, error))
    } catch (error) {
      report(operation, key, error)
    }
  }
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as Promise<T>).then === 'function'
}

/** What can be served: a response that is not past its time. */
function usable(found: CacheGetResult | undefined, now: number): CacheGetResult | undefined {
  if (typeof found !== 'object' || found === null) return undefined
  if (typeof found.headers !== 'object' || found.headers === null || found.deleteAt <= now) return undefined
  return found.cacheControlDirectives ? found : { ...found, cacheControlDirectives: {} }
}

function report(operation: StoreOperation, key: CacheKey, error: unknown): void {
  if (channels.cacheError.hasSubscribers) channels.cacheError.publish({ operation, key, error })
}
