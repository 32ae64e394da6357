/** Keys that are remembered for a while. */
import { now } from '../base/loop/clock.ts'

/** Beyond that, the oldest is forgotten. */
const MAX_KEYS = 1024

export class RecentKeys {
  readonly #milliseconds: number
  /** Until when each is remembered, oldest first. */
  readonly #ends = new Map<string, number>()

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  get isEmpty(): boolean {
    return this.#ends.size === 0
  }

  add(key: string): void {
    const time = now()
    this.#ends.delete(key)
    for (const [oldest, end] of this.#ends) {
      if (end > time && this.#ends.size < MAX_KEYS) break
      this.#ends.delete(oldest)
    }
    this.#ends.set(key, time + this.#milliseconds)
  }

  has(key: string): boolean {
    return (this.#ends.get(key) ?? 0) > now()
  }

  delete(key: string): void {
    this.#ends.delete(key)
  }
}
