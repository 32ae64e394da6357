/**
 * Calls to a store in another process: each has a time limit, and after one has failed, the store is left
 * alone for a while. A client that queues commands while it is disconnected would otherwise delay every
 * request.
 */

import type { KeyValueClient } from './redis-client.ts'
import { answerWithin } from './store-answer.ts'

/** How long a store that has failed is left alone. */
const REST_MS = 1000

export class RemoteAccess {
  readonly #client: KeyValueClient
  readonly #timeout: number
  #downUntil = 0

  constructor(client: KeyValueClient, timeout: number) {
    this.#client = client
    this.#timeout = timeout
  }

  /** It has failed a moment ago. */
  get isDown(): boolean {
    return Date.now() < this.#downUntil
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

  async #within<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await answerWithin(Promise.resolve().then(call), this.#timeout, ignore)
    } catch (error) {
      this.#downUntil = Date.now() + REST_MS
      throw error
    }
  }
}

const ignore = (): void => {}
