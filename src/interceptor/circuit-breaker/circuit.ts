/**
 * The circuit of one origin: closed while requests succeed, open after too many failures, half open while a
 * few requests find out whether the origin is back. Knows no request: it admits, and is told what became of
 * what it admitted.
 */
import { now } from '../../base/loop/clock.ts'
import { OutcomeWindow } from '../outcome-window.ts'
import type { CircuitBreakerSettings } from './options.ts'

type State =
  | { readonly at: 'closed' }
  | { readonly at: 'open'; readonly until: number }
  | { readonly at: 'half-open'; trials: number }

const CLOSED: State = { at: 'closed' }

/** Not admitted. */
export const REFUSED = -1

export class Circuit {
  readonly #settings: CircuitBreakerSettings
  readonly #outcomes: OutcomeWindow
  #state: State = CLOSED
  /**
   * Counts the changes of state: a request that was admitted before the last one says nothing about the
   * present.
   */
  #epoch = 0

  constructor(settings: CircuitBreakerSettings) {
    this.#settings = settings
    this.#outcomes = new OutcomeWindow(settings.window)
  }

  /** Milliseconds until the circuit admits a request; 0 if only requests that are under way can tell. */
  get retryAfter(): number {
    return this.#state.at === 'open' ? Math.max(0, this.#state.until - now()) : 0
  }

  /** Returns the epoch of the admission, to be handed back with the outcome; or `REFUSED`. */
  admit(): number {
    if (this.#state.at === 'open' && now() >= this.#state.until) this.#enter({ at: 'half-open', trials: 0 })
    const state = this.#state
    if (state.at === 'open') return REFUSED
    if (state.at === 'half-open') {
      if (state.trials >= this.#settings.halfOpenMax) return REFUSED
      state.trials++
    }
    return this.#epoch
  }

  /** Whether a request of this epoch is one of those that find out. */
  isTrial(epoch: number): boolean {
    return this.#state.at === 'half-open' && epoch === this.#epoch
  }

  onSuccess(epoch: number): void {
    if (epoch !== this.#epoch) return
    if (this.#state.at === 'half-open') this.#enter(CLOSED)
    else this.#outcomes.add(0, now())
  }

  onFailure(epoch: number): void {
    if (epoch !== this.#epoch) return
    const at = now()
    const { threshold, minRequests, halfOpenAfter } = this.#settings
    const open: State = { at: 'open', until: at + halfOpenAfter }
    if (this.#state.at === 'half-open') {
      this.#enter(open)
      return
    }
    this.#outcomes.add(1, at)
    const { total, marked } = this.#outcomes.count(at)
    if (total >= minRequests && marked >= threshold * total) this.#enter(open)
  }

  /** It was aborted: another request may find out. */
  onUndecided(epoch: number): void {
    if (epoch === this.#epoch && this.#state.at === 'half-open') this.#state.trials--
  }

  #enter(state: State): void {
    this.#state = state
    this.#epoch++
    this.#outcomes.clear()
  }
}
