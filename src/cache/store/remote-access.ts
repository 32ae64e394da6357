/** Calls to a store in another process, each with a time limit. */
import type { KeyValueClient } from './redis-client.ts'
import { StoreAnswers } from './store-answers.ts'

/** How long a store that has failed is left alone: its client may queue commands while it is disconnected. */
const REST_MS = 1000

export class RemoteAccess {
  readonly #client: KeyValueClient
  readonly #answers: StoreAnswers

  constructor(client: KeyValueClient, timeout: number) {
    this.#client = client
    this.#answers = new StoreAnswers(timeout, REST_MS, true)
  }

  /** It has failed a moment ago. */
  get isDown(): boolean {
    return this.#answers.isResting
  }

  async get(key: string): Promise<Buffer | null> {
    const value = await this.#within(() => this.#client.get(key))
    if (value === null || value === undefined) return null
    if (typeof value === 'string') return Buffer.from(value)
    // Anything with a length would be copied, however long it claims to be.
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    throw new TypeError('the client returned neither bytes nor text')
  }

  async set(key: string, value: Buffer, milliseconds: number): Promise<void> {
    await this.#within(() => this.#client.set(key, value, Math.max(1, Math.ceil(milliseconds))))
  }

  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.#within(() => this.#client.delete(keys))
  }

  #within<T>(call: () => Promise<T>): Promise<T> {
    return this.#answers.within(Promise.resolve().then(call))
  }
}
