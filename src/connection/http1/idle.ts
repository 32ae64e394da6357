/**
 * An HTTP/1.1 connection between requests: it is inspected before it is used again, and becomes idle when nothing follows.
 */
import { ConnectionPart } from '../connection-part.ts'
import { afterPoll, type PollWaiter } from './event-loop-poll.ts'

/**
 * Whether the connection was inspected since something last ran on it. Bytes or a FIN may wait in the kernel, and only a
 * turn of the event loop delivers them: an unsolicited response must be noticed before the next request is written, or it
 * would be taken for its answer.
 */
type Inspection = 'done' | 'due' | 'pending'

/**
 * Whether the connection keeps the process alive and has no time limit (`no`), or the other way round (`yes`). One that
 * has nothing to do is idle from the next poll on (`due`): under load a request comes before that.
 */
type IdleState = 'no' | 'due' | 'yes'

export interface IdlenessHost {
  /** A request that had to wait for the inspection need not wait any more. */
  onInspected(): void
  onIdle(): void
  onIdleEnd(): void
  onBroken(error: Error): void
}

export class Http1Idleness extends ConnectionPart<IdlenessHost> implements PollWaiter {
  #inspection: Inspection = 'done'
  #idle: IdleState = 'no'
  /** The last poll that was waited for. */
  #poll = 0

  get isInspecting(): boolean {
    return this.#inspection === 'pending'
  }

  get isIdle(): boolean {
    return this.#idle === 'yes'
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
    const wasIdle = this.#idle === 'yes'
    this.#idle = 'no'
    if (wasIdle) this.host.onIdleEnd()
  }

  /** There is nothing to do. */
  begin(): void {
    if (this.#inspection === 'done') this.#inspection = 'due'
    if (this.#idle !== 'no') return
    this.#idle = 'due'
    this.#poll = afterPoll(this, this.#poll)
  }

  /** The connection is gone. */
  stop(): void {
    this.#inspection = 'done'
    this.#idle = 'no'
  }

  onPolled(poll: number): void {
    // One that came before the request did has looked too early.
    if (poll !== this.#poll) return
    if (this.#inspection === 'pending') {
      this.#inspection = 'done'
      this.host.onInspected()
    }
    if (this.#idle === 'due') {
      this.#idle = 'yes'
      this.host.onIdle()
    }
  }
}
