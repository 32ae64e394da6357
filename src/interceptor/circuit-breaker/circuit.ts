/**
 * The circuit of one origin: closed while requests succeed, open after too many failures, half open while a
 * few requests find out whether the origin is back. Does not know requests: it admits them, and is told how
 * they ended.
 */
import { now } from '../../base/loop/clock.ts'
import type { CircuitState } from '../../relay/request-watcher.ts'
import { OutcomeWindow } from '../outcome-window.ts'
import type { CircuitBreakerSettings } from './options.ts'

type State =
  | { readonly at: 'closed' }
  | { readonly at: 'open'; readonly until: number }
  | { readonly at: 'half-open'; trials: number }

/** `undecided`: the request was aborted, and another one may find out. */
export type Outcome = 'success' | 'failure' | 'undecided'

const CLOSED: State = { at: 'closed' }

/** Not admitted. */
export const REFUSED = -1

export class Circuit {
  readonly #settings: CircuitBreakerSettings
  readonly #outcomes: OutcomeWindow
  readonly #onOpen: () => void
  #state: State = CLOSED
  /**
   * Counts the changes of state: a request that was admitted before the last one says nothing about the
   * present.
   */
  #epoch = 0

  /** `onOpen` is called when requests have opened it. */
  constructor(settings: CircuitBreakerSettings, onOpen: () => void = () => {}) {
    this.#settings = settings
    this.#onOpen = onOpen
    this.#outcomes = new OutcomeWindow(settings.window)
  }

  get state(): CircuitState {
    return this.#state.at
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

  settle(epoch: number, outcome: Outcome): void {
    if (epoch !== this.#epoch) return
    const state = this.#state
    if (outcome === 'undecided') {
      if (state.at === 'half-open') state.trials--
    } else if (state.at !== 'half-open') this.#count(outcome)
    else if (outcome === 'success') this.#enter(CLOSED)
    else this.#open()
  }

  #count(outcome: Outcome): void {
    const at = now()
    this.#outcomes.add(outcome === 'failure' ? 1 : 0, at)
    if (outcome !== 'failure') return
    const { total, marked } = this.#outcomes.count(at)
    const { threshold, minRequests } = this.#settings
    if (total >= minRequests && marked >= threshold * total) this.#open()
  }

  #open(): void {
    this.open(this.#settings.halfOpenAfter)
    this.#onOpen()
  }

  /** For so many milliseconds. */
  open(milliseconds: number): void {
    this.#enter({ at: 'open', until: now() + milliseconds })
  }

  #enter(state: State): void {
    this.#state = state
    this.#epoch++
    this.#outcomes.clear()
  }
}
