/** Addresses to which a connection failed: others are used meanwhile. */
import { now } from '../../base/loop/clock.ts'

/** Milliseconds for which an address is left alone. */
const AVOIDED_FOR = 10_000

export class UnreachedAddresses {
  /** By name and address, oldest first: until when it is avoided. */
  readonly #ends = new Map<string, number>()

  get isEmpty(): boolean {
    return this.#ends.size === 0
  }

  add(key: string): void {
    const time = now()
    for (const [oldest, end] of this.#ends) {
      if (end > time) break
      this.#ends.delete(oldest)
    }
    this.#ends.delete(key)
    this.#ends.set(key, time + AVOIDED_FOR)
  }

  has(key: string): boolean {
    const end = this.#ends.get(key)
    return end !== undefined && end > now()
  }

  delete(key: string): void {
    this.#ends.delete(key)
  }
}
