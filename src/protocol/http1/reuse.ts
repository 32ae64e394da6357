/**
 * May this connection carry another request (RFC 9112 §9.3)? A table of states and inputs, and the rule for
 * how long an idle connection is worth keeping. It knows neither sockets nor clocks.
 */
import { InternalError } from '../../base/error/invariant.ts'

/**
 * - `idle`: no requests run
 * - `busy`: requests run, more may follow
 * - `last`: requests run, none may follow; over when they have been answered
 * - `over`: carries no more requests and is to be closed
 */
export type ReuseState = 'idle' | 'busy' | 'last' | 'over'

/**
 * - `request`: a request was written
 * - `last-request`: one was written after which the connection is not reused (reset, upgrade, count reached)
 * - `doubt`: the last of the requests turns out to be one after which the connection is not reused
 * - `answered`: a response ended and others are still owed
 * - `all-answered`: a response ended and none is owed
 * - `denied`: a response ended that does not let the connection live on; whatever else runs is lost
 * - `lost`: the connection closed
 */
export type ReuseInput =
  | 'request'
  | 'last-request'
  | 'doubt'
  | 'answered'
  | 'all-answered'
  | 'denied'
  | 'lost'

/** null: cannot happen; our own mistake if it does. */
type ReuseRow = Readonly<Record<ReuseInput, ReuseState | null>>

export const REUSE_TABLE: Readonly<Record<ReuseState, ReuseRow>> = {
  idle: {
    request: 'busy',
    'last-request': 'last',
    doubt: null,
    answered: null,
    'all-answered': null,
    denied: null,
    lost: 'over',
  },
  busy: {
    request: 'busy',
    'last-request': 'last',
    doubt: 'last',
    answered: 'busy',
    'all-answered': 'idle',
    denied: 'over',
    lost: 'over',
  },
  last: {
    request: null,
    'last-request': null,
    doubt: 'last',
    answered: 'last',
    'all-answered': 'over',
    denied: 'over',
    lost: 'over',
  },
  over: {
    request: null,
    'last-request': null,
    doubt: null,
    answered: null,
    'all-answered': null,
    denied: null,
    lost: 'over',
  },
}

export class Reuse {
  #state: ReuseState = 'idle'

  get state(): ReuseState {
    return this.#state
  }

  get canTake(): boolean {
    return this.#state === 'idle' || this.#state === 'busy'
  }

  /** A request was written; `last`: the connection is not to be reused after it. */
  wrote(last: boolean): void {
    const row = rowOf(this.#state)
    this.#enter(last ? row['last-request'] : row.request)
  }

  /** Something of the newest request is being written that no other should follow. */
  doubted(): void {
    this.#enter(rowOf(this.#state).doubt)
  }

  /**
   * The oldest response ended; `keep`: it lets the connection live on, for long enough; `owed`: others are to
   * come.
   */
  answered(keep: boolean, owed: boolean): void {
    const row = rowOf(this.#state)
    if (keep) this.#enter(owed ? row.answered : row['all-answered'])
    else this.#enter(row.denied)
  }

  lost(): void {
    this.#enter(rowOf(this.#state).lost)
  }

  #enter(next: ReuseState | null): void {
    if (next === null) throw new InternalError(`connection reuse: impossible in state ${this.#state}`)
    this.#state = next
  }
}

/** Looking up a name that varies takes the runtime longer than all else here, and it happens with each request. */
function rowOf(state: ReuseState): ReuseRow {
  switch (state) {
    case 'idle':
      return REUSE_TABLE.idle
    case 'busy':
      return REUSE_TABLE.busy
    case 'last':
      return REUSE_TABLE.last
    case 'over':
      return REUSE_TABLE.over
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
