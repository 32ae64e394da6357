/** Stores one response while it arrives. No caller waits for a store, and no truncated body is stored. */
import { Buffer } from 'node:buffer'
import type { Writable } from 'node:stream'
import { invariant } from '../../base/error/invariant.ts'
import { BodyLog } from '../../relay/body-log.ts'
import { announcedLength } from '../../relay/fields.ts'
import type { CacheKey, CacheValue } from './cache-store.ts'
import type { StoreAccess } from './store-access.ts'
import { discardStream, writeTo } from './stored-stream.ts'

type State =
  | { readonly at: 'collecting'; readonly log: BodyLog; isRead: boolean }
  | { readonly at: 'writing'; readonly stream: Writable }
  | { readonly at: 'over' }

const OVER: State = { at: 'over' }

export class Storing {
  readonly key: CacheKey
  readonly value: CacheValue
  readonly #access: StoreAccess
  readonly #limit: number
  #state: State
  #size = 0
  /** Beside the state: a body that is not stored may still be read by those who wait for it. */
  #forbidden = false

  /** `shared`: the body is kept in memory until it is complete, because other requests read it. */
  constructor(access: StoreAccess, key: CacheKey, value: CacheValue, shared: boolean) {
    this.key = key
    this.value = value
    this.#access = access
    this.#limit = access.maxEntrySize
    this.#state = this.#begin(shared)
  }

  #begin(shared: boolean): State {
    const announced = announcedLength(this.value)
    if (announced !== null && announced > this.#limit) return OVER
    if (shared || this.#access.takesWhole) return { at: 'collecting', log: new BodyLog(), isRead: false }
    const stream = this.#access.createWriteStream(this.key, this.value, () => {
      this.#state = OVER
      this.#access.delete(this.key)
    })
    return stream === undefined ? OVER : { at: 'writing', stream }
  }

  get active(): boolean {
    return this.#state.at !== 'over'
  }

  /** The body in memory. From now on others read it while it arrives, whether it is stored or not. */
  read(): BodyLog {
    const state = this.#state
    invariant(state.at === 'collecting', 'only a body in memory can be read')
    state.isRead = true
    return state.log
  }

  write(chunk: Buffer): void {
    const state = this.#state
    if (state.at === 'over') return
    this.#size += chunk.length
    const isTooLong = this.#size > this.#limit
    if (isTooLong && (state.at === 'writing' || !state.isRead)) {
      this.abandon()
    } else if (state.at === 'collecting') {
      this.#forbidden ||= isTooLong
      state.log.append(chunk)
    } else {
      try {
        // A copy: the handler owns the chunk.
        state.stream.write(Buffer.from(chunk))
      } catch {
        this.abandon()
      }
    }
  }

  /** The response is complete. Returns the body, if it is in memory. */
  finish(isHead: boolean): readonly Buffer[] | null {
    const state = this.#state
    const announced = isHead ? null : announcedLength(this.value)
    const isWhole = announced === null || announced === this.#size
    if (state.at === 'writing' && !isWhole) this.abandon()
    this.#state = OVER
    if (state.at === 'writing' && isWhole) writeTo(state.stream, [])
    if (state.at !== 'collecting') return null
    const body = isWhole ? state.log.blocks() : null
    if (body !== null && !this.#forbidden) this.#access.store(this.key, { ...this.value, body })
    state.log.complete()
    return body
  }

  /** The URL was invalidated: the body may still serve those who wait for it, but is not stored. */
  forbid(): void {
    this.#forbidden = true
    if (this.#state.at === 'writing') this.abandon()
  }

  /** The response is not to be stored after all: it failed, was too long, or was invalidated. */
  abandon(error?: Error): void {
    const state = this.#state
    this.#state = OVER
    if (state.at === 'writing') {
      discardStream(state.stream)
      this.#access.delete(this.key)
    } else if (state.at === 'collecting' && error !== undefined) {
      state.log.fail(error)
    }
  }
}
