/**
 * The controller of a request that may be sent several times: its handler gets this one and keeps it, whatever attempt
 * runs. A pause outlives an attempt; an abort goes to the one that runs, or to its owner while there is none.
 */
import type { Timings } from '../errors.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'

/** What a logical controller needs of its request. */
export interface LogicalRequest {
  /** It had its final call. */
  readonly settled: boolean
  /** The handler gives the request up. */
  onAbort(reason: unknown): void
  /** The handler takes data again. */
  onResume?(): void
}

export class LogicalController implements DispatchController {
  readonly #request: LogicalRequest
  #attempt: DispatchController | null = null
  /** The attempt whose head the handler got: the raw fields of a later one are not those of the response. */
  #shown: DispatchController | null = null
  #aborted = false
  #reason: unknown = null
  #paused = false

  constructor(request: LogicalRequest) {
    this.#request = request
  }

  /** The controller of the attempt that runs. */
  get attempt(): DispatchController | null {
    return this.#attempt
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): Error | null {
    // A caller may abort with anything; what reads it is mostly written for an error.
    return this.#reason as Error | null
  }

  get paused(): boolean {
    return this.#paused
  }

  // Absent if the controller of the attempt has none; the type of an optional property does not allow a getter to say so.
  get timings(): Timings {
    return (this.#shown ?? this.#attempt)?.timings as Timings
  }

  get maxResponseSize(): number {
    return this.#attempt?.maxResponseSize as number
  }

  get rawHeaders(): Buffer[] | null {
    return (this.#shown ?? this.#attempt)?.rawHeaders ?? null
  }

  set rawHeaders(value: Buffer[] | null) {
    const target = this.#shown ?? this.#attempt
    if (target !== null) target.rawHeaders = value
  }

  get rawTrailers(): Buffer[] | null {
    return this.#attempt?.rawTrailers ?? null
  }

  set rawTrailers(value: Buffer[] | null) {
    if (this.#attempt !== null) this.#attempt.rawTrailers = value
  }

  abort(reason?: unknown): void {
    if (this.#aborted || this.#request.settled) return
    this.#aborted = true
    this.#reason = reason
    this.#request.onAbort(reason)
  }

  pause(): void {
    this.#paused = true
    this.#attempt?.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#request.onResume?.()
    if (!this.#paused) this.#attempt?.resume()
  }

  /** An attempt has begun. */
  attach(attempt: DispatchController): void {
    this.#attempt = attempt
  }

  /** No attempt runs. */
  detach(): void {
    this.#attempt = null
  }

  /** The handler gets the head of this attempt. */
  show(attempt: DispatchController): void {
    this.#attempt = attempt
    this.#shown = attempt
  }
}
