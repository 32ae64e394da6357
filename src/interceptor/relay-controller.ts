/**
 * The one controller that a caller has for a request that may take several attempts below: `abort` reaches the attempt that
 * runs or waits now, and a pause outlasts it.
 */
import type { Timings } from '../errors.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'

type AbortFunction = (reason?: unknown) => void

/** `settled`: the caller's handler had its final call. */
type State = 'open' | 'aborted' | 'settled'

export class RelayController implements DispatchController {
  /** The attempt that has started. */
  #attempt: DispatchController | null = null
  /** Gives up the attempt that waits. */
  #abortWaiting: AbortFunction | null = null
  #state: State = 'open'
  #reason: unknown = null
  #paused = false

  get aborted(): boolean {
    return this.#state === 'aborted'
  }

  get reason(): Error | null {
    // A caller may abort with anything; what reads it is mostly written for an error.
    return this.#reason as Error | null
  }

  get paused(): boolean {
    return this.#paused
  }

  get rawHeaders(): Buffer[] | null {
    return this.#attempt?.rawHeaders ?? null
  }

  set rawHeaders(value: Buffer[] | null) {
    if (this.#attempt !== null) this.#attempt.rawHeaders = value
  }

  get rawTrailers(): Buffer[] | null {
    return this.#attempt?.rawTrailers ?? null
  }

  set rawTrailers(value: Buffer[] | null) {
    if (this.#attempt !== null) this.#attempt.rawTrailers = value
  }

  // Both are absent from controllers of other dispatchers, which the type of a getter cannot say.

  get timings(): Timings {
    return this.#attempt?.timings as Timings
  }

  get maxResponseSize(): number {
    return this.#attempt?.maxResponseSize as number
  }

  abort(reason?: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'aborted'
    this.#reason = reason ?? null
    this.giveUp(reason)
  }

  /** The caller has aborted. */
  protected giveUp(reason: unknown): void {
    if (this.#attempt !== null) this.#attempt.abort(reason)
    else this.#abortWaiting?.(reason)
  }

  pause(): void {
    this.#paused = true
    this.#attempt?.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#attempt?.resume()
  }

  /** Keeps in mind whether delivery is stopped, for a subclass that stops it elsewhere. */
  protected note(paused: boolean): void {
    this.#paused = paused
  }

  /** An attempt waits to be started. */
  wait(abort: AbortFunction): void {
    this.#attempt = null
    if (this.aborted) abort(this.#reason)
    else this.#abortWaiting = abort
  }

  /** An attempt has started. */
  follow(attempt: DispatchController): void {
    this.#attempt = attempt
    this.#abortWaiting = null
    if (this.aborted) attempt.abort(this.#reason)
    else if (this.#paused) attempt.pause()
  }

  /** The attempt is over, and another one is going to follow. */
  release(): void {
    this.#attempt = null
    this.#abortWaiting = null
  }

  /** From now on an abort has no effect. */
  settle(): void {
    if (this.#state === 'open') this.#state = 'settled'
  }
}
