/**
 * The caller's side of one request through the cache: its handler, and the one controller that it gets, whether the
 * response comes from the origin, from a store, or from one after the other. The handler gets exactly one final call.
 */
import type { Duplex } from 'node:stream'
import { type CallContext, captureContext, runIn } from '../base/call-context.ts'
import { now } from '../base/clock.ts'
import { RequestAbortedError, SocketError, type Timings } from '../errors.ts'
import { type HeaderObject, toBuffers } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import { flatFields, rawList } from '../request/received-fields.ts'
import { newTimings } from '../request/timings.ts'
import { responseFacts, stateFacts } from './response-facts.ts'

/** Where the response comes from at the moment. */
export interface ResponseSource {
  abort(reason: unknown): void
  pause(): void
  resume(): void
  /** The controller of the origin's response, for what only it knows. */
  readonly upstream: DispatchController | null
}

/** Has the raw list of a head. It is made when it is read. */
export type RawHead = Pick<DispatchController, 'rawHeaders'>

/** The handler of a request whose response nobody waits for. */
export const SILENT: DispatchHandler = {
  onRequestStart() {},
  onResponseStart() {},
  onResponseData() {},
  onResponseEnd() {},
  onResponseError() {},
}

type State = 'waiting' | 'started' | 'settled'

export class Caller implements DispatchController {
  readonly handler: DispatchHandler
  readonly #queuedAt = now()
  /** Others may cause its calls: those that share a response, or what has stored it. */
  readonly #context: CallContext | null = captureContext()
  source: ResponseSource | null = null
  #state: State = 'waiting'
  #announced = false
  aborted = false
  paused = false
  #reason: unknown = null
  #head: HeaderObject | null = null
  #received: RawHead | null = null
  #rawHeaders: Buffer[] | null = null
  #rawTrailers: Buffer[] | null = null
  #timings: Timings | null = null
  /** Of the responses of this dispatcher; stored ones obey it as well. */
  #maxResponseSize: number | undefined

  constructor(handler: DispatchHandler, maxResponseSize?: number) {
    this.handler = handler
    this.#maxResponseSize = maxResponseSize
  }

  get settled(): boolean {
    return this.#state === 'settled'
  }

  get reason(): Error | null {
    return this.#reason as Error | null
  }

  get timings(): Timings {
    const timings = this.source?.upstream?.timings
    if (timings !== undefined) return timings
    this.#timings ??= newTimings(this.#queuedAt)
    return this.#timings
  }

  get maxResponseSize(): number {
    return this.source?.upstream?.maxResponseSize ?? this.#maxResponseSize ?? -1
  }

  get rawHeaders(): Buffer[] | null {
    if (this.#rawHeaders === null && this.#head !== null) {
      this.#rawHeaders = rawList(this.#received?.rawHeaders) ?? toBuffers(flatFields(this.#head))
    }
    return this.#rawHeaders
  }

  set rawHeaders(value: Buffer[] | null) {
    this.#rawHeaders = value
  }

  get rawTrailers(): Buffer[] | null {
    return this.#rawTrailers
  }

  set rawTrailers(value: Buffer[] | null) {
    this.#rawTrailers = value
  }

  abort(reason?: unknown): void {
    if (this.aborted || this.settled) return
    this.aborted = true
    this.#reason = reason
    this.source?.abort(reason)
    // Our dispatchers have reported the failure by now; another one may do it later, or never.
    this.fail((reason || new RequestAbortedError()) as Error)
  }

  pause(): void {
    if (this.paused) return
    this.paused = true
    this.source?.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.source?.resume()
  }

  /** Lets the caller abort while the cache waits for a store, another request or a connection. */
  announce(): void {
    if (this.#announced || this.settled) return
    this.#announced = true
    try {
      this.call('onRequestQueued', (reason) => this.abort(reason))
    } catch (error) {
      this.abort(error)
    }
  }

  /** Once, however many requests it takes to get the response. */
  start(context: unknown): void {
    if (this.#state !== 'waiting') return
    this.#state = 'started'
    this.call('onRequestStart', this, context)
  }

  /** The response that it gets is a stored one. */
  fromStore(): void {
    stateFacts(this, { ...responseFacts(this), isStored: true })
  }

  /** `received` has the raw list, where the headers are those of the origin. It is made when it is asked for. */
  head(
    statusCode: number,
    headers: HeaderObject,
    statusMessage: string | undefined,
    received: RawHead | null,
  ): void {
    this.#head = headers
    this.#received = received
    this.#rawHeaders = null
    this.call('onResponseStart', this, statusCode, headers, statusMessage)
  }

  data(chunk: Buffer): void {
    if (!this.settled) this.call('onResponseData', this, chunk)
  }

  /** What `onResponseEnd` throws is reported to the handler, as without a cache. */
  end(trailers: HeaderObject, rawTrailers: Buffer[] | null): void {
    if (this.settled) return
    this.#state = 'settled'
    this.#rawTrailers = rawTrailers ?? []
    try {
      this.call('onResponseEnd', this, trailers)
    } catch (error) {
      this.call('onResponseError', this, error as Error)
    }
  }

  /** A dispatcher has switched protocols unasked. The connection is the handler's, if that has a use for it. */
  upgrade(statusCode: number, headers: HeaderObject, socket: Duplex, received: RawHead): void {
    if (this.settled || this.handler.onRequestUpgrade === undefined) {
      socket.destroy()
      this.fail(new SocketError('bad upgrade'))
      return
    }
    this.#state = 'settled'
    this.#head = headers
    this.#received = received
    this.#rawHeaders = null
    this.call('onRequestUpgrade', this, statusCode, headers, socket)
  }

  fail(error: Error): void {
    if (this.settled) return
    const started = this.#state === 'started'
    this.#state = 'settled'
    this.call('onResponseError', started ? this : null, error)
  }

  /** A method of the handler, if it has it. */
  call<K extends keyof DispatchHandler>(name: K, ...args: Parameters<NonNullable<DispatchHandler[K]>>): void {
    const method = this.handler[name] as ((...args: unknown[]) => void) | undefined
    if (method) runIn(this.#context, method, this.handler, ...args)
  }
}
