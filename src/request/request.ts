/**
 * One accepted `dispatch()` call: the validated request, the handler behind it, and the promise that the
 * handler gets exactly one final call. Connections report what happens on the wire; what the handler does or
 * throws meanwhile is contained here.
 *
 * The same object is what subscribers of the diagnostics channels get, so its public fields are those that
 * instrumentations of undici read (contract: diagnostics-and-debug.md 1.1).
 */
import type { Duplex } from 'node:stream'
import { now } from '../base/clock.ts'
import { ignoreError } from '../base/ignore-error.ts'
import { invariant } from '../base/invariant.ts'
import { channels } from '../diagnostics.ts'
import {
  InformationalError,
  RequestAbortedError,
  type RequestPhase,
  type RetrySafety,
  type SocketInfo,
  type Timings,
} from '../errors.ts'
import type { HeaderBlock } from '../protocol/header-block.ts'
import type { FieldValue, HeaderList } from '../protocol/header-list.ts'
import { destroyStream, isReplayable, type WholeSource } from './body-source.ts'
import type { DispatchHandler } from './dispatch-handler.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { END_RULES, type EndReason, endReason } from './end-reason.ts'
import { describeError } from './error-context.ts'
import { RequestController } from './request-controller.ts'
import { RequestFields } from './request-fields.ts'
import { type RequestSetting, RequestTerms } from './request-terms.ts'

/** Whoever holds the request now: the client while it waits, a connection while it runs. */
export interface RequestHost {
  /** The request has failed on this side; `reason` is what a connection it runs on is to be closed with. */
  onRequestAborted(request: Request, reason: EndReason): void
  /** The handler takes data again. */
  onRequestResumed(request: Request): void
  /** The handler's `onResponseError` threw: nobody is left to tell but the client's `error` event. */
  onHandlerError(error: unknown): void
}

/** When a connection came about, on the clock of `performance.now()`. */
export interface ConnectTimes {
  readonly connect: number | null
  readonly secured: number | null
}

/** What a request knows of the connection it runs on. */
export interface ConnectionFacts {
  readonly reused: boolean
  readonly times: ConnectTimes
  socketInfo(): SocketInfo
}

/** Of a request that has settled: the exchange it had must not live as long as whoever holds the request. */
const NOBODY: RequestHost = { onRequestAborted() {}, onRequestResumed() {}, onHandlerError() {} }

/** Where a request stands. `running` lasts until a response head; both directions may overlap. */
type State = 'created' | 'queued' | 'running' | 'responding' | 'completed' | 'failed'

/** What a request remembers beside its state, as bits of one number: thousands of requests may wait. */
const ABORTED = 1
/** The connection had carried another request when this one came: later ones change what it says itself. */
const REUSED = 2
/** Something of the request was given to a connection, be it a lost one: a server may have seen it. */
const WRITTEN = 4
/** A source that cannot be read twice was read from. */
const SPENT = 8
/** A failure is told a turn of the event loop after it has happened. */
const TELLS_LATER = 16
/** From this bit on: how often in a row it was refused by a peer that gets nowhere. */
const REFUSAL = 32

export class Request extends RequestTerms {
  readonly #queuedAt = now()
  #timings: Timings | null = null
  readonly #handler: DispatchHandler
  #host: RequestHost
  #state: State = 'created'
  #marks = 0
  #controller: RequestController | null = null
  #connection: ConnectionFacts | null = null
  /** What a subscriber of a diagnostics channel was given as `headers`, and may have changed. */
  #headers: FieldValue[] | null = null

  constructor(
    options: DispatchOptions,
    handler: DispatchHandler,
    setting: RequestSetting,
    host: RequestHost,
  ) {
    super(options, handler, setting)
    this.#handler = handler
    this.#host = host
    if (this.source.kind === 'stream') {
      this.source.stream.on('error', (error: Error) => this.abort(error))
    }
    if (channels.requestCreate.hasSubscribers) channels.requestCreate.publish({ request: this })
  }

  get aborted(): boolean {
    return (this.#marks & ABORTED) !== 0
  }

  get isQueued(): boolean {
    return this.#state === 'queued'
  }

  get completed(): boolean {
    return this.#state === 'completed'
  }

  get settled(): boolean {
    return this.#state === 'completed' || this.#state === 'failed'
  }

  /** The final response head was delivered. */
  get responding(): boolean {
    return this.#state === 'responding'
  }

  get paused(): boolean {
    return this.#controller?.paused === true
  }

  /** Whether another connection may carry it after this one was lost: nothing delivered, nothing spent. */
  get resendable(): boolean {
    return this.#state === 'running' && (this.#marks & SPENT) === 0
  }

  /**
   * The peer sent it back unseen. Returns how often that has happened in a row while the peer did nothing else
   * either: one that answers others meanwhile has only to be asked again.
   */
  onUnseen(progress: boolean): number {
    const refusals = progress ? 0 : Math.floor(this.#marks / REFUSAL) + 1
    this.#marks = (this.#marks & (REFUSAL - 1) & ~WRITTEN) + refusals * REFUSAL
    return refusals
  }

  /** Made when something has happened: thousands of requests may wait for that. */
  get timings(): Timings {
    this.#timings ??= {
      queued: this.#queuedAt,
      connect: null,
      secured: null,
      sent: null,
      firstByte: null,
      end: null,
    }
    return this.#timings
  }

  /** For instrumentations. Live: what stands here when the request is written goes to the wire. */
  get headers(): FieldValue[] {
    // Their own copy: other requests may have the same list.
    this.#headers ??= [...this.fields.flat]
    return this.#headers
  }

  set headers(headers: FieldValue[]) {
    this.#headers = headers
  }

  /** For instrumentations: checked like the headers of `dispatch()`. */
  addHeader(name: string, value: unknown): this {
    const fields = new RequestFields()
    fields.add(name, value)
    this.headers.push(...fields.list.flat)
    return this
  }

  /** The fields to send, or null when a subscriber left something illegal in `headers`. */
  wireFields(): HeaderList | null {
    if (this.#headers === null) return this.fields
    const fields = new RequestFields()
    try {
      fields.addAll(this.#headers)
    } catch {
      return null
    }
    return fields.list
  }

  announceQueued(): void {
    this.#state = 'queued'
    try {
      this.#handler.onRequestQueued?.((reason) => this.abort(reason))
    } catch (error) {
      this.abort(error)
    }
  }

  /** Asks the handler whether it still wants to; false when the request has settled instead. */
  start(): boolean {
    invariant(this.#state === 'queued', 'a request starts from the queue')
    this.#state = 'running'
    this.#controller = new RequestController(this)
    try {
      this.#handler.onRequestStart!(this.#controller, null)
    } catch (error) {
      this.#end(error as Error)
    }
    return !this.settled
  }

  attach(host: RequestHost, connection: ConnectionFacts): void {
    this.#host = host
    this.#connection = connection
    if (connection.reused) {
      this.#marks |= REUSED
      return
    }
    this.timings.connect = connection.times.connect
    this.timings.secured = connection.times.secured
  }

  /** Another queue holds it from now on. */
  moveTo(host: RequestHost): void {
    this.#host = host
  }

  /** Back to the queue after its connection was lost. */
  requeue(host: RequestHost): void {
    invariant(this.resendable, 'a request goes back to the queue only when it can be sent again')
    this.#host = host
    this.#state = 'queued'
    this.#controller = null
    this.#connection = null
    this.#marks &= ~REUSED
    const { timings } = this
    timings.connect = null
    timings.secured = null
    timings.sent = null
    timings.firstByte = null
  }

  onWritten(): void {
    this.#marks |= WRITTEN
  }

  onBodyRead(): void {
    if (!isReplayable(this.source)) this.#marks |= SPENT
  }

  /** The body went out with the head; bytes are made of it only for those who want to see them. */
  onWholeBodySent(source: WholeSource): void {
    if (this.settled) return
    try {
      if (!channels.requestBodyChunkSent.hasSubscribers && !this.#handler.onBodySent) return
    } catch (error) {
      this.abort(error)
      return
    }
    this.onBodySent(source.shown())
  }

  onBodySent(chunk: string | Uint8Array): void {
    if (this.settled) return
    if (channels.requestBodyChunkSent.hasSubscribers) {
      channels.requestBodyChunkSent.publish({ request: this, chunk })
    }
    if (this.settled) return
    try {
      this.#handler.onBodySent?.(chunk)
    } catch (error) {
      this.abort(error)
    }
  }

  onRequestSent(at: number = now()): void {
    if (this.settled) return
    this.timings.sent = at
    if (channels.requestBodySent.hasSubscribers) channels.requestBodySent.publish({ request: this })
    if (this.settled) return
    try {
      this.#handler.onRequestSent?.()
    } catch (error) {
      this.abort(error)
    }
  }

  /** `at` is the time of the read that brought it: reading the clock for each response costs. */
  onResponseStarted(at: number = now()): void {
    this.timings.firstByte ??= at
    try {
      this.#handler.onResponseStarted?.()
    } catch (error) {
      const host = this.#host
      this.#end(error as Error)
      host.onRequestAborted(this, endReason('aborted', error as Error))
    }
  }

  onInformational(statusCode: number, fields: HeaderBlock, statusText: string): void {
    this.#deliverHead(statusCode, fields, statusText)
  }

  onHead(statusCode: number, fields: HeaderBlock, statusText: string): void {
    this.#state = 'responding'
    this.#deliverHead(statusCode, fields, statusText)
  }

  #deliverHead(statusCode: number, fields: HeaderBlock, statusText: string): void {
    const controller = this.#controller!
    controller.acceptHead(fields)
    if (channels.requestHeaders.hasSubscribers) {
      channels.requestHeaders.publish({
        request: this,
        response: { statusCode, headers: controller.rawHeaders, statusText },
      })
      if (this.settled) return
    }
    try {
      this.#handler.onResponseStart?.(controller, statusCode, fields.toObject(), statusText)
    } catch (error) {
      this.abort(error)
    }
  }

  onData(chunk: Buffer): void {
    if (channels.requestBodyChunkReceived.hasSubscribers) {
      channels.requestBodyChunkReceived.publish({ request: this, chunk })
      if (this.settled) return
    }
    try {
      this.#handler.onResponseData?.(this.#controller!, chunk)
    } catch (error) {
      this.abort(error)
    }
  }

  onEnd(trailers: HeaderBlock, at: number = now()): void {
    const controller = this.#controller!
    this.#state = 'completed'
    this.timings.end = at
    controller.acceptTrailers(trailers)
    // The response is complete, so whatever the body source still holds is not wanted any more.
    if (this.source.kind === 'stream') destroyStream(this.source.stream, null)
    if (channels.requestTrailers.hasSubscribers) {
      channels.requestTrailers.publish({ request: this, trailers: controller.rawTrailers })
    }
    try {
      this.#handler.onResponseEnd?.(controller, trailers.toObject())
    } catch (error) {
      this.#notifyError(error as Error)
    }
    this.#letGo()
  }

  onUpgrade(statusCode: number, fields: HeaderBlock, socket: Duplex): void {
    const controller = this.#controller!
    this.#state = 'completed'
    this.timings.end = now()
    controller.acceptHead(fields)
    try {
      this.#handler.onRequestUpgrade!(controller, statusCode, fields.toObject(), socket)
      // The caller's now. A peer that resets it must not end a process that does not listen; what the caller has
      // destroyed it for, an error thrown in a callback for one, is not ours to hide.
      if (!socket.destroyed) socket.on('error', ignoreError)
    } catch (error) {
      destroySocket(socket, error as Error)
    }
    this.#letGo()
  }

  /** The caller gives up, or the handler threw. A caller's reason is passed on as it is. */
  abort(reason?: unknown): void {
    if (this.settled) return
    this.#marks |= ABORTED
    // Before the queue, and between the queue and a connection, nobody else has to know.
    const held = this.#state === 'queued' || this.#connection !== null
    const host = this.#host
    if (reason) this.#end(reason as Error)
    else this.fail(endReason('aborted', new RequestAbortedError()))
    if (held) host.onRequestAborted(this, endReason('aborted', new InformationalError('aborted')))
  }

  /** Adds the request's context to the error, unless that is a value of the caller. */
  fail(reason: EndReason): void {
    if (this.settled) return
    if (reason.isCallers) {
      this.#end(reason.error)
      return
    }
    this.timings.end = now()
    const { method, origin, timings } = this
    const path = shownPath(this.path)
    const socket = this.#connection?.socketInfo() ?? null
    const reusedSocket = (this.#marks & REUSED) !== 0
    this.#end(
      describeError(reason.error, {
        method,
        origin,
        path,
        phase: END_RULES[reason.kind].phase ?? this.#phase(),
        reusedSocket,
        retrySafety: this.#retrySafety(END_RULES[reason.kind].retrySafety),
        timings,
        socket,
      }),
    )
  }

  /**
   * The failure that follows may have come with the same bytes as the head. A handler that goes on with a
   * response in promises, as `fetch` of the runtime does, has not got there yet: it would miss the failure and
   * wait for the body for ever.
   */
  tellLater(): void {
    this.#marks |= TELLS_LATER
  }

  onResume(): void {
    if (!this.settled) this.#host.onRequestResumed(this)
  }

  #end(error: Error): void {
    if (this.settled) return
    this.#state = 'failed'
    this.timings.end = now()
    if (this.source.kind === 'stream') destroyStream(this.source.stream, error)
    if ((this.#marks & TELLS_LATER) !== 0) globalThis.setImmediate(() => this.#notifyError(error))
    else this.#notifyError(error)
  }

  #notifyError(error: Error): void {
    if (channels.requestError.hasSubscribers) channels.requestError.publish({ request: this, error })
    try {
      this.#handler.onResponseError!(this.#controller ?? undefined, error)
    } catch (thrown) {
      this.#host.onHandlerError(thrown)
    }
    this.#letGo()
  }

  /**
   * The last call was made. A request that has waited for long is in the part of memory that is rarely cleaned,
   * and would keep all that came with its response there.
   */
  #letGo(): void {
    this.#host = NOBODY
    this.#controller = null
  }

  #phase(): RequestPhase {
    if (this.#state === 'created' || this.#state === 'queued') return 'queued'
    if (this.#state === 'responding') return 'body'
    return this.timings.sent === null ? 'sending' : 'headers'
  }

  /** `ruled`: what the end of the request says about it, if anything. */
  #retrySafety(ruled: RetrySafety | null): RetrySafety {
    if (ruled === 'no' || (ruled === 'safe' && this.resendable)) return ruled
    if ((this.#marks & SPENT) !== 0) return 'no'
    return (this.#marks & WRITTEN) !== 0 ? 'idempotent-only' : 'safe'
  }
}

function destroySocket(socket: Duplex, error: Error): void {
  try {
    socket.destroy(error)
  } catch {
    // It belongs to the handler, which has thrown.
  }
}

/** What an error tells of a path: neither the query nor a user's name and password. */
function shownPath(path: string): string {
  const [place] = path.split(/[?#]/, 1) as [string]
  return place.replace(/\/\/[^/]*@/, '//').replace(/^[^/]*@/, '')
}
