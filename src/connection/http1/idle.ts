/**
 * An HTTP/1.1 connection between requests: that it is looked at before it is used again, and from when on it rests.
 */
import { afterPoll, type PollWaiter } from '../../base/event-loop-poll.ts'

/**
 * Whether the connection was looked at since something last ran on it. Bytes or a FIN may wait in the kernel, and
 * only a turn of the event loop brings them up: a response that nobody asked for must be seen before the next request
 * is written, or it would be taken for its answer.
 */
type Inspection = 'done' | 'due' | 'pending'

/**
 * Whether the connection keeps the process alive and has no time limit (`none`), or the other way round (`begun`).
 * One that has nothing to do rests from the next poll on (`due`): under load a request comes before that.
 */
type Rest = 'none' | 'due' | 'begun'

export interface IdlenessHost {
  /** A request that had to wait for a look at the connection need not wait any more. */
  onInspected(): void
  onRestBegun(): void
  onRestEnded(): void
  onBroken(error: Error): void
}

export class Http1Idleness implements PollWaiter {
  readonly #host: IdlenessHost
  #inspection: Inspection = 'done'
  #rest: Rest = 'none'
  /** The last poll that was waited for. */
  #poll = 0

  constructor(host: IdlenessHost) {
    this.#host = host
  }

  get isInspecting(): boolean {
    return this.#inspection === 'pending'
  }

  get isResting(): boolean {
    return this.#rest === 'begun'
  }

  /** Whether a request may be written; if not, `onInspected` follows. */
  inspect(): boolean {
    if (this.#inspection === 'due') {
      this.#inspection = 'pending'
      this.#poll = afterPoll(this, this.#poll)
    }
    return this.#inspection === 'done'
  }

  /** A request is written. */
  end(): void {
    this.#inspection = 'due'
    const wasResting = this.#rest === 'begun'
    this.#rest = 'none'
    if (wasResting) this.#host.onRestEnded()
  }

  /** There is nothing to do. */
  begin(): void {
    if (this.#inspection === 'done') this.#inspection = 'due'
    if (this.#rest !== 'none') return
    this.#rest = 'due'
    this.#poll = afterPoll(this, this.#poll)
  }

  /** The connection is gone. */
  stop(): void {
    this.#inspection = 'done'
    this.#rest = 'none'
  }

  onBroken(error: Error): void {
    this.#host.onBroken(error)
  }

  onPolled(poll: number): void {
    // One that came before the request did has looked too early.
    if (poll !== this.#poll) return
    if (this.#inspection === 'pending') {
      this.#inspection = 'done'
      this.#host.onInspected()
    }
    if (this.#rest === 'due') {
      this.#rest = 'begun'
      this.#host.onRestBegun()
    }
  }
}
