/**
 * The one controller that a handler has for a request that may take several attempts below: a pause outlasts the attempt,
 * and `abort` reaches the one that runs or waits now, or the owner of the request.
 */
import { type CallContext, captureContext, runIn } from '../base/call-context.ts'
import type { Timings } from '../errors.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import type { RawFields } from '../request/received-fields.ts'
import { responseFacts, stateFacts } from './response-facts.ts'

type AbortFunction = (reason?: unknown) => void

/** A request that decides what an abort ends, or has data to deliver that no attempt has any more. */
export interface RelayOwner {
  /** The handler gives the request up: once, and not after `settle()`. */
  onAbort(reason: unknown): void
  /** The handler takes data again; the attempt goes on afterwards, unless the handler has paused again. */
  onResume?(): void
}

/** `settled`: the handler had its final call. */
type State = 'open' | 'aborted' | 'settled'

export class RelayController implements DispatchController {
  readonly #owner: RelayOwner | null
  /** Whoever aborts or resumes may do so anywhere; what the owner calls then belongs to the request. */
  readonly #context: CallContext | null
  /** The attempt that has started. */
  #attempt: DispatchController | null = null
  /** The attempt whose head the handler got: the raw fields of a later one are not those of the response. */
  #shown: DispatchController | null = null
  /** Gives up the attempt that waits. */
  #abortWaiting: AbortFunction | null = null
  #state: State = 'open'
  #reason: unknown = null
  #paused = false

  /** @param owner Null: an abort ends the attempt. */
  constructor(owner: RelayOwner | null = null) {
    this.#owner = owner
    this.#context = owner === null ? null : captureContext()
  }

  /** The controller of the attempt that runs. */
  get attempt(): DispatchController | null {
    return this.#attempt
  }

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

  get rawHeaders(): RawFields {
    return (this.#shown ?? this.#attempt)?.rawHeaders ?? null
  }

  set rawHeaders(value: RawFields) {
    const target = this.#shown ?? this.#attempt
    if (target !== null) target.rawHeaders = value
  }

  get rawTrailers(): RawFields {
    return this.#attempt?.rawTrailers ?? null
  }

  set rawTrailers(value: RawFields) {
    if (this.#attempt !== null) this.#attempt.rawTrailers = value
  }

  // Both are absent from controllers of other dispatchers, which the type of a getter cannot say.

  get timings(): Timings {
    return (this.#shown ?? this.#attempt)?.timings as Timings
  }

  get maxResponseSize(): number {
    return this.#attempt?.maxResponseSize as number
  }

  abort(reason?: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'aborted'
    this.#reason = reason ?? null
    if (this.#owner === null) this.giveUp(reason)
    else runIn(this.#context, this.#owner.onAbort, this.#owner, reason)
  }

  /** Ends the attempt that runs or waits. */
  giveUp(reason: unknown): void {
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
    const owner = this.#owner
    if (owner?.onResume) runIn(this.#context, owner.onResume, owner)
    if (!this.#paused) this.#attempt?.resume()
  }

  /** Keeps in mind whether delivery is stopped, for a subclass that stops it elsewhere. */
  protected note(paused: boolean): void {
    this.#paused = paused
  }

  /** Runs a function in the context of the call. */
  protected inContext(act: () => void): void {
    runIn(this.#context, act, null)
  }

  protected reportResume(): void {
    this.#owner?.onResume?.()
  }

  /** An attempt waits to be started. */
  wait(abort: AbortFunction): void {
    this.#attempt = null
    if (this.aborted) abort(this.#reason)
    else this.#abortWaiting = abort
  }

  /** An attempt has started: it is aborted or paused if the request is. */
  follow(attempt: DispatchController): void {
    this.attach(attempt)
    if (this.aborted) attempt.abort(this.#reason)
    else if (this.#paused) attempt.pause()
  }

  /** An attempt has started, and its owner decides when it is paused. */
  attach(attempt: DispatchController): void {
    this.#attempt = attempt
    this.#abortWaiting = null
  }

  /** The handler gets the head of this attempt, and what is known about its response. */
  show(attempt: DispatchController): void {
    this.attach(attempt)
    this.#shown = attempt
    stateFacts(this, responseFacts(attempt))
  }

  /** The attempt is over, and another one may follow. */
  release(): void {
    this.#attempt = null
    this.#abortWaiting = null
  }

  /** From now on an abort has no effect. */
  settle(): void {
    if (this.#state === 'open') this.#state = 'settled'
  }
}
