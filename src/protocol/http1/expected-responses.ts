/**
 * The requests whose responses are owed, oldest first, by their meaning for the framing of the response.
 */
import { type RequestKind, requestKind } from './framing.ts'

/**
 * Answered requests may stay in the list when no others are; emptying it each time would make a list per
 * request.
 */
const LEFT_WHEN_EMPTY = 16

/** Answered requests are cut off the front in pieces of this size, so a long pipeline stays linear. */
const CUT_AFTER = 1024

export class ExpectedResponses {
  #kinds: RequestKind[] = []
  /** Index of the oldest request that is not answered. */
  #first = 0

  get count(): number {
    return this.#kinds.length - this.#first
  }

  /** The oldest; there must be one. */
  get first(): RequestKind {
    return this.#kinds[this.#first]!
  }

  push(method: string, wantsUpgrade: boolean): void {
    this.#kinds.push(requestKind(method, wantsUpgrade))
  }

  /** The oldest has been answered. */
  shift(): void {
    this.#first++
    if (this.#first === this.#kinds.length) {
      if (this.#first < LEFT_WHEN_EMPTY) return
      this.#kinds = []
      this.#first = 0
    } else if (this.#first === CUT_AFTER) {
      this.#kinds.splice(0, CUT_AFTER)
      this.#first = 0
    }
  }
}
