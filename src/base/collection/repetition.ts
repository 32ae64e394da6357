/**
 * Whether it is worth comparing something with what came last: programs and servers either repeat themselves
 * all the time, or never do, because they sign or trace each message.
 */

/** So many that differ in a row: the next are not compared. */
const MAX_MISSES = 8

/** Those that are not compared before one is again. */
const SKIPPED = 64

export class Repetition {
  /** Differences in a row; beyond `MAX_MISSES`, those that were not compared. */
  #misses = 0

  /** Counts one more. Returns whether it is to be compared. */
  count(): boolean {
    if (this.#misses < MAX_MISSES) return true
    this.#misses = this.#misses === MAX_MISSES + SKIPPED ? MAX_MISSES - 1 : this.#misses + 1
    return false
  }

  onSame(): void {
    this.#misses = 0
  }

  onDifferent(): void {
    this.#misses++
  }
}
