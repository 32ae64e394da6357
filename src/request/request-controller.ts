/**
 * The controller that a handler steers its request with. The raw views are made when they are read: most
 * handlers never look at them.
 */
import type { Timings } from '../errors.ts'
import { HeaderBlock } from '../protocol/header-block.ts'
import { permittedTrailers } from '../protocol/trailer-names.ts'
import type { HttpVersion } from './connection-facts.ts'
import type { DispatchController } from './dispatch-handler.ts'

/** What a controller needs of its request. */
export interface Steerable {
  readonly settled: boolean
  readonly timings: Timings
  readonly maxResponseSize: number
  readonly httpVersion: HttpVersion | null
  abort(reason?: unknown): void
  onResume(): void
}

export class RequestController implements DispatchController {
  readonly #request: Steerable
  #aborted = false
  #reason: unknown = null
  #paused = false
  /** As received, or the raw view of it once that was read. */
  #head: HeaderBlock | Buffer[] | null = null
  #trailers: HeaderBlock | Buffer[] | null = null

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

  get httpVersion(): HttpVersion | null {
    return this.#request.httpVersion
  }

  get rawHeaders(): Buffer[] | null {
    if (this.#head instanceof HeaderBlock) this.#head = this.#head.toBuffers()
    return this.#head
  }

  set rawHeaders(value: Buffer[] | null) {
    this.#head = value
  }

  get rawTrailers(): Buffer[] | null {
    if (this.#trailers instanceof HeaderBlock) this.#trailers = this.#trailers.toBuffers()
    return this.#trailers
  }

  set rawTrailers(value: Buffer[] | null) {
    this.#trailers = value
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

  acceptHead(head: HeaderBlock): void {
    this.#head = head
  }

  /** Returns those that a response may have. */
  acceptTrailers(received: HeaderBlock): HeaderBlock {
    const trailers = permittedTrailers(received)
    this.#trailers = trailers
    return trailers
  }
}
