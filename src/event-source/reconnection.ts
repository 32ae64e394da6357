/** Whether and when to reconnect after an event stream has ended. It has no timers and only counts. */
import { LONGEST_DELAY } from '../base/loop/deadline.ts'
import type { StreamPlan } from './stream-options.ts'

/** How a stream, or the attempt to get it, has ended. */
export type StreamEnd =
  /** The server ended the stream normally. */
  | { readonly kind: 'ended'; readonly isEmpty: boolean }
  /** The network or a time limit ended it. */
  | { readonly kind: 'lost' }
  /** The response was not an event stream. `retryAfter` is in milliseconds. */
  | { readonly kind: 'refused'; readonly statusCode: number; readonly retryAfter: number }
  /** An event was too large. The next attempt would bring it again. */
  | { readonly kind: 'excessive' }

/**
 * Without it, a server that sets a reconnection time of 0 and fails, or ends each stream at once, would get
 * requests as fast as it answers.
 */
const LEAST_DELAY = 100

/** After a stream with events. A server may want an immediate request, but not a busy loop. */
const LEAST_DELAY_AFTER_EVENTS = 10

export class Reconnection {
  readonly #plan: StreamPlan
  /** The reconnection time that the server set, if any. */
  serverTime: number | null = null
  /** Attempts in a row without an event. */
  attempts = 0

  constructor(plan: StreamPlan) {
    this.#plan = plan
  }

  /** The milliseconds to wait; null for no further attempt. */
  after(end: StreamEnd): number | null {
    this.attempts++
    return this.#allows(end) ? Math.min(this.#delay(end), LONGEST_DELAY) : null
  }

  #allows(end: StreamEnd): boolean {
    const { reconnect, retryStatus, maxRetries } = this.#plan
    if (reconnect === false || this.attempts > maxRetries || end.kind === 'excessive') return false
    if (end.kind === 'refused') return retryStatus.has(end.statusCode)
    return end.kind === 'lost' || reconnect === 'always'
  }

  #delay(end: StreamEnd): number {
    const time = this.serverTime ?? this.#plan.reconnectionTime
    const least = end.kind === 'ended' && !end.isEmpty ? LEAST_DELAY_AFTER_EVENTS : LEAST_DELAY
    const delay = Math.max(this.#plan.backoff ? this.#random(time) : time, least)
    return end.kind === 'refused' ? Math.max(delay, end.retryAfter) : delay
  }

  /** Random, so that the clients of a lost server do not all return at the same moment. */
  #random(time: number): number {
    const shortest = Math.max(time, LEAST_DELAY)
    const longest = shortest * 2 ** this.attempts
    const drawn = shortest + Math.random() * (longest - shortest)
    return Math.max(Math.min(drawn, this.#plan.maxReconnectionTime), this.serverTime ?? 0)
  }
}
