/**
 * May this connection carry another request (RFC 9112 §9.3)? And the rule for
 * how long an idle connection is worth keeping. It knows neither sockets nor clocks.
 */
import { invariant } from '../../base/error/invariant.ts'

/**
 * - `idle`: no requests run
 * - `busy`: requests run, more may follow
 * - `last`: requests run, none may follow; over when they have been answered
 * - `over`: carries no more requests and is to be closed
 */
export type ReuseState = 'idle' | 'busy' | 'last' | 'over'

export class Reuse {
  state: ReuseState = 'idle'

  get canTake(): boolean {
    return this.state === 'idle' || this.state === 'busy'
  }

  /**
   * A request was written; `last`: the connection is not to be reused after it (reset, upgrade, count
   * reached).
   */
  wrote(last: boolean): void {
    invariant(this.canTake, 'a request was written on a connection that takes none')
    this.state = last ? 'last' : 'busy'
  }

  /** Something of the newest request is being written that no other should follow. */
  doubted(): void {
    this.#expectRequests()
    this.state = 'last'
  }

  /**
   * The oldest response ended; `keep`: it lets the connection live on, for long enough; `owed`: others are to
   * come.
   */
  answered(keep: boolean, owed: boolean): void {
    this.#expectRequests()
    if (!keep) this.state = 'over'
    else if (!owed) this.state = this.state === 'busy' ? 'idle' : 'over'
  }

  lost(): void {
    this.state = 'over'
  }

  #expectRequests(): void {
    invariant(this.state === 'busy' || this.state === 'last', 'no requests run on the connection')
  }
}

export interface IdleTimes {
  /** Used when the peer gave no hint. */
  readonly keepAliveTimeout: number
  /** Never trust a hint beyond this. */
  readonly keepAliveMaxTimeout: number
  /** Subtracted from a hint: the peer's clock started earlier, and it may close while our request travels. */
  readonly keepAliveTimeoutThreshold: number
}

/** Milliseconds for which the idle connection may be kept; 0: not at all. */
export function idleTime(hintSeconds: number | null, times: IdleTimes): number {
  if (hintSeconds === null) return times.keepAliveTimeout
  const trusted = hintSeconds * 1000 - times.keepAliveTimeoutThreshold
  return Math.max(0, Math.min(trusted, times.keepAliveMaxTimeout))
}
