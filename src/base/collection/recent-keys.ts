/** Keys that are remembered for a while. */
import { now } from '../loop/clock.ts'

/** Beyond that, the oldest is forgotten. */
const MAX_KEYS = 1024

export class RecentKeys {
  readonly #milliseconds: number
  readonly #clock: () => number
  /** Until when each is remembered, oldest first. */
  readonly #ends = new Map<string, number>()

  /** @param clock milliseconds; replaced by tests */
  constructor(milliseconds: number, clock: () => number = now) {
    this.#milliseconds = milliseconds
    this.#clock = clock
  }

  get isEmpty(): boolean {
    return this.#ends.size === 0
  }

  add(key: string): void {
    const time = this.#clock()
    this.#ends.delete(key)
    for (const [oldest, end] of this.#ends) {
      if (end > time && this.#ends.size < MAX_KEYS) break
      this.#ends.delete(oldest)
    }
    this.#ends.set(key, time + this.#milliseconds)
  }

  has(key: string): boolean {
    return (this.#ends.get(key) ?? 0) > this.#clock()
  }

  delete(key: string): void {
    this.#ends.delete(key)
  }
}
