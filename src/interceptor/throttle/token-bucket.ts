/**
 * When the next request of a key may go: a bucket that fills with tokens at a steady rate, of which each
 * request takes one. It has no clock: callers give the time, in milliseconds.
 */

/** Makes up for sums of fractions of tokens. */
const EPSILON = 1e-6

/**
 * Timers are late by a millisecond or more, in which a bucket that holds a single token would lose others: a
 * rate of 5,000 per second could not be reached. So much lateness is made up for, and no more: a program that
 * was blocked for a second must not send a second's worth of requests at once.
 */
const MAX_LATENESS = 50

export class TokenBucket {
  readonly #burst: number
  /** Tokens per second; Infinity for no limit. */
  #rate: number
  #tokens: number
  #filledAt: number
  /** Nothing goes before this time. */
  #opensAt = 0

  constructor(rate: number, burst: number, at: number) {
    this.#rate = rate
    this.#burst = burst
    this.#tokens = burst
    this.#filledAt = at
  }

  /** Whether a request may go at any time, so that the clock need not be read. */
  get isUnlimited(): boolean {
    return this.#rate === Number.POSITIVE_INFINITY && this.#opensAt === 0
  }

  /** Milliseconds until a request may go; 0 for now. */
  delay(at: number): number {
    if (at < this.#opensAt) return this.#opensAt - at
    if (this.#rate === Number.POSITIVE_INFINITY) return 0
    this.#fill(at, this.#burst)
    const missing = 1 - this.#tokens
    return missing <= EPSILON ? 0 : (missing * 1000) / this.#rate
  }

  take(): void {
    this.#tokens--
  }

  /** A request that took a token was not sent. */
  giveBack(): void {
    this.#tokens++
  }

  /** Requests wait for this bucket, and the timer that was set for the next token has fired. */
  catchUp(at: number): void {
    if (this.#rate !== Number.POSITIVE_INFINITY) {
      this.#fill(at, this.#burst + (this.#rate * MAX_LATENESS) / 1000)
    }
  }

  /** Closes the bucket until a time, at which it has one token at most. */
  pause(until: number): void {
    if (until <= this.#opensAt) return
    this.#opensAt = until
    if (this.#rate === Number.POSITIVE_INFINITY) return
    this.#fill(until, this.#burst)
    this.#tokens = Math.min(this.#tokens, 1)
  }

  changeRate(rate: number, at: number): void {
    this.#fill(at, this.#burst)
    this.#rate = rate
  }

  /** Never takes tokens away: those above the capacity were caught up with. */
  #fill(at: number, capacity: number): void {
    const elapsed = at - this.#filledAt
    if (elapsed <= 0) return
    this.#filledAt = at
    const filled = Math.min(capacity, this.#tokens + (elapsed * this.#rate) / 1000)
    this.#tokens = Math.max(this.#tokens, filled)
  }
}
