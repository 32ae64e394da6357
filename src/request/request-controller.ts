/**
 * The controller that a handler steers its request with. The raw views are made when
 * they are read: most handlers never look at them.
 */
import type { Timings } from '../errors.ts'
import type { HeaderBlock } from '../protocol/header-block.ts'
import { permittedTrailers } from '../protocol/trailer-names.ts'
import type { DispatchController } from './dispatch-handler.ts'

/** What a controller needs of its request. */
export interface Steerable {
  readonly settled: boolean
  readonly timings: Timings
  readonly maxResponseSize: number
  abort(reason?: unknown): void
  onResume(): void
}

export class RequestController implements DispatchController {
  readonly #request: Steerable
  #aborted = false
  #reason: unknown = null
  #paused = false
  #head: HeaderBlock | null = null
  #trailers: HeaderBlock | null = null
  #rawHeaders: Buffer[] | null = null
  #rawTrailers: Buffer[] | null = null

  constructor(request: Steerable) {
    this.#request = request
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

  get timings(): Timings {
    return this.#request.timings
  }

  get maxResponseSize(): number {
    return this.#request.maxResponseSize
  }

  get rawHeaders(): Buffer[] | null {
    if (this.#rawHeaders === null && this.#head !== null) this.#rawHeaders = this.#head.toBuffers()
    return this.#rawHeaders
  }

  set rawHeaders(value: Buffer[] | null) {
    this.#head = null
    this.#rawHeaders = value
  }

  get rawTrailers(): Buffer[] | null {
    if (this.#rawTrailers === null && this.#trailers !== null) this.#rawTrailers = this.#trailers.toBuffers()
    return this.#rawTrailers
  }

  set rawTrailers(value: Buffer[] | null) {
    this.#trailers = null
    this.#rawTrailers = value
  }

  abort(reason?: unknown): void {
    if (this.#aborted) return
    // Of a request that has settled, the rest of an upload may be left to stop.
    if (!this.#request.settled) {
      this.#aborted = true
      this.#reason = reason
    }
    this.#request.abort(reason)
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#request.onResume()
  }

  /** A head arrived; the raw view of an earlier one is stale. */
  acceptHead(head: HeaderBlock): void {
    this.#head = head
    this.#rawHeaders = null
  }

  /** Returns those that a response may have. */
  acceptTrailers(received: HeaderBlock): HeaderBlock {
    this.#trailers = permittedTrailers(received)
    this.#rawTrailers = null
    return this.#trailers
  }
}
