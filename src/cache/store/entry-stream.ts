/** A Writable that collects a body and stores it when it has finished. One that is too long is not stored. */
import { Writable } from 'node:stream'
import { BodyLog } from '../../relay/body-log.ts'
import type { CacheKey, CacheValue, WholeStore } from './cache-store.ts'
import { checkedUrl } from './store-arguments.ts'

export class EntryStream extends Writable {
  readonly #store: WholeStore
  readonly #key: CacheKey
  readonly #value: CacheValue
  #log: BodyLog | null = new BodyLog()

  constructor(store: WholeStore, key: CacheKey, value: CacheValue) {
    checkedUrl(key, value)
    super()
    this.#store = store
    this.#key = key
    this.#value = value
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#log !== null && this.#log.size + chunk.length > this.#store.maxEntrySize) this.#log = null
    this.#log?.append(chunk)
    done()
  }

  override _final(done: (error?: Error | null) => void): void {
    // Within `end()`: a response that was written can be read at once.
    try {
      if (this.#log !== null) this.#store.set(this.#key, { ...this.#value, body: this.#log.blocks() })
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}
