/**
 * May this connection carry another request (RFC 9112 §9.3)? A table of states and inputs, and the rule for
 * how long an idle connection is worth keeping. It knows neither sockets nor clocks.
 */
import { InternalError } from '../../base/invariant.ts'

/**
 * - `idle`: nothing runs
 * - `busy`: requests run, more may follow
 * - `last`: requests run, none may follow; over when they have been answered
 * - `over`: carries nothing any more and is to be closed
 */
export type ReuseState = 'idle' | 'busy' | 'last' | 'over'

/**
 * - `request`: a request was written
 * - `last-request`: one was written after which the connection is not reused (reset, upgrade, count reached)
 * - `retire`: take nothing new (the client closes, the wish to reset comes later than the request)
 * - `answered`: a response ended and others are still owed
 * - `all-answered`: a response ended and none is owed
 * - `denied`: a response ended that does not let the connection live on; whatever else runs is lost
 * - `lost`: the connection closed
 */
export type ReuseInput =
  | 'request'
  | 'last-request'
  | 'retire'
  | 'answered'
  | 'all-answered'
  | 'denied'
  | 'lost'

/** null: cannot happen; our own mistake if it does. */
export const REUSE_TABLE: Readonly<Record<ReuseState, Readonly<Record<ReuseInput, ReuseState | null>>>> = {
  idle: {
    request: 'busy',
    'last-request': 'last',
    retire: 'over',
    answered: null,
    'all-answered': null,
    denied: null,
    lost: 'over',
  },
  busy: {
    request: 'busy',
    'last-request': 'last',
    retire: 'last',
    answered: 'busy',
    'all-answered': 'idle',
    denied: 'over',
    lost: 'over',
  },
  last: {
    request: null,
    'last-request': null,
    retire: 'last',
    answered: 'last',
    'all-answered': 'over',
    denied: 'over',
    lost: 'over',
  },
  over: {
    request: null,
    'last-request': null,
    retire: 'over',
    answered: null,
    'all-answered': null,
    denied: null,
    lost: 'over',
  },
}

export class Reuse {
  #state: ReuseState = 'idle'
  /** The row of the state. */
  #next = REUSE_TABLE.idle
  #running = 0

  get state(): ReuseState {
    return this.#state
  }

  /** Requests written and not answered. */
  get running(): number {
    return this.#running
  }

  get canTake(): boolean {
    return this.#state === 'idle' || this.#state === 'busy'
  }

  /** A request was written; `last`: the connection is not to be reused after it. */
  wrote(last: boolean): void {
    if (last) this.#step(this.#next['last-request'], 'last-request')
    else this.#step(this.#next.request, 'request')
    this.#running++
  }

  /** The oldest response ended; `keep`: it lets the connection live on, for long enough. */
  answered(keep: boolean): void {
    if (!keep) this.#step(this.#next.denied, 'denied')
    else if (this.#running > 1) this.#step(this.#next.answered, 'answered')
    else this.#step(this.#next['all-answered'], 'all-answered')
    this.#running = keep ? this.#running - 1 : 0
  }

  /** Takes nothing new; what runs may finish. */
  retire(): void {
    this.#step(this.#next.retire, 'retire')
  }

  lost(): void {
    this.#step(this.#next.lost, 'lost')
    this.#running = 0
  }

  #step(state: ReuseState | null, input: ReuseInput): void {
    if (state === null) throw new InternalError(`connection reuse: ${input} in state ${this.#state}`)
    if (state === this.#state) return
    this.#state = state
    this.#next = rowOf(state)
  }
}

/** By name: an index that changes from call to call costs the runtime a search, twice for each request. */
function rowOf(state: ReuseState): (typeof REUSE_TABLE)[ReuseState] {
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
