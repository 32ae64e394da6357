/**
 * An HTTP/1.1 connection between requests: it is inspected before it is used again, and becomes idle when
 * nothing follows.
 */
import type { Request } from '../../request/request.ts'
import { ConnectionPart } from '../connection-part.ts'
import { afterTurn, type LoopWaiter, pollCount } from './event-loop-poll.ts'

/**
 * Whether the connection was inspected since something last ran on it. Bytes or a FIN may wait in the kernel,
 * and only the event loop delivers them: an unsolicited response must be noticed before the next request is
 * written, or it would be taken for its answer. After a response the request waits for a poll (`polling`).
 * Once the loop has polled, only events of that very poll may still be to come: a request that must not be
 * sent twice waits until they were handled (`handling`). That poll may be long ago if the process was busy
 * since; servers close connections that were idle for a while, so after a while every request waits for a poll.
 * A socket that a poll has found lost gets a second one for its `close` event (`lost`).
 */
type Inspection = 'done' | 'due' | 'polling' | 'handling' | 'lost'

/**
 * Whether the connection keeps the process alive and has no time limit (`no`), or the other way round
 * (`yes`). The first that has nothing to do after a poll is idle at once. Others are at the end of the turn
 * (`due`): responses that come together are those of a process under load, where a request comes before that.
 */
type IdleState = 'no' | 'due' | 'yes'

/**
 * Milliseconds of silence after which a request waits for a poll. Servers that keep connections at all keep
 * them longer; under load, connections are used again sooner.
 */
const LONGEST_UNSEEN = 100

export interface IdlenessHost {
  /** How long there was nothing to do, in milliseconds. Only while it is idle. */
  readonly idleFor: number
  /** The request may go again to another connection if what arrives next `wasEarlier`. */
  canRepeat(request: Request): boolean
  /** The socket was reset, which its `close` event tells after the end of the turn. */
  readonly isLost: boolean
  /** Its `close` event does not come: there are streams of callers that emit none. */
  onLost(): void
  /** A request that had to wait for the inspection need not wait any more. */
  onInspected(): void
  onIdle(): void
  onIdleEnd(): void
  onBroken(error: Error): void
}

/** After this poll a connection became idle at once, and others that follow it wait for the end of the turn. */
let idledAfter = -1

export class Http1Idleness extends ConnectionPart<IdlenessHost> implements LoopWaiter {
  #inspection: Inspection = 'done'
  #idle: IdleState = 'no'
  /** The last turn whose end was waited for. */
  #turn = 0
  /** The poll that brought the end of the last response. */
  #endedAfter = 0
  /** The turn in which a request asked for a poll. */
  #askedIn = 0
  /**
   * The poll after which a request was written without waiting; 0 if it waited, or something has arrived
   * since.
   */
  #writtenAfter = 0

  get isInspecting(): boolean {
    return this.#inspection !== 'done' && this.#inspection !== 'due'
  }

  get isIdle(): boolean {
    return this.#idle === 'yes'
  }

  /** Whether a request may be written; if not, `onInspected` follows. */
  inspect(request: Request): boolean {
    if (this.#inspection !== 'due') return this.#inspection === 'done'
    const polls = pollCount()
    if (this.#idle !== 'yes' || polls === this.#endedAfter || this.host.idleFor > LONGEST_UNSEEN) {
      this.#inspection = 'polling'
      this.#turn = this.#askedIn = afterTurn(this, this.#turn)
      return false
    }
    if (this.host.canRepeat(request)) {
      // Still due: this one alone need not wait.
      this.#writtenAfter = polls
      return true
    }
    this.#inspection = 'handling'
    this.#turn = afterTurn(this, this.#turn)
    return false
  }

  /**
   * Something arrives. Whether it was in the kernel before the request: it comes from the poll after which
   * that was written.
   */
  wasEarlier(): boolean {
    const written = this.#writtenAfter
    if (written === 0) return false
    this.#writtenAfter = 0
    return written === pollCount()
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
    this.#endedAfter = pollCount()
    if (this.isInspecting || this.#endedAfter === idledAfter) {
      this.#idle = 'due'
      this.#turn = afterTurn(this, this.#turn)
      return
    }
    idledAfter = this.#endedAfter
    this.#becomeIdle()
  }

  /** The connection is gone. */
  stop(): void {
    this.#inspection = 'done'
    this.#idle = 'no'
  }

  onTurnEnd(turn: number): boolean {
    if (turn === this.#turn) this.#endTurn()
    return this.#inspection === 'polling' || this.#inspection === 'lost'
  }

  #endTurn(): void {
    if (this.#inspection === 'handling') {
      if (this.host.isLost) this.#inspection = 'polling'
      else this.#onInspected()
    }
    if (this.#idle !== 'due') return
    // A request waits for the inspection. If it is gone by then, `begin` follows.
    if (this.isInspecting) this.#idle = 'no'
    else this.#becomeIdle()
  }

  #becomeIdle(): void {
    this.#idle = 'yes'
    this.host.onIdle()
  }

  onPolled(turn: number): void {
    // One that came before the request did has looked too early.
    if (turn < this.#askedIn) return
    if (this.#inspection === 'lost') {
      this.host.onLost()
    } else if (this.#inspection === 'polling') {
      if (this.host.isLost) this.#awaitClose()
      else this.#onInspected()
    }
  }

  /** It says why the socket is lost, and sockets of the runtime emit it before the next poll has ended. */
  #awaitClose(): void {
    this.#inspection = 'lost'
    this.#turn = this.#askedIn = afterTurn(this, this.#turn)
  }

  #onInspected(): void {
    this.#inspection = 'done'
    this.host.onInspected()
  }
}
