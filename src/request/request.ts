/**
 * One accepted `dispatch()` call: the validated request, its handler, and the promise that the handler gets
 * exactly one final call. Connections report what happens on the wire; what the handler does or throws
 * meanwhile is contained here. Subscribers of the diagnostics channels get the same object: its public fields
 * are those that instrumentations read.
 *
 * Long because every way that a request can go ends in the same one call.
 */
import type { Duplex } from 'node:stream'
import { abortedReason, isAbortSource, SignalHub } from '../base/abort/signal.ts'
import { shownPath } from '../base/address/shown-path.ts'
import { ownBytes } from '../base/bytes/own-bytes.ts'
import { readableError } from '../base/error/as-error.ts'
import { destroyQuietly, ignoreError } from '../base/error/ignore-error.ts'
import { invariant } from '../base/error/invariant.ts'
import { now } from '../base/loop/clock.ts'
import { runtimeSetImmediate } from '../base/loop/runtime-turns.ts'
import { isThenable } from '../base/loop/thenable.ts'
import { channels } from '../diagnostics.ts'
import {
  InformationalError,
  RequestAbortedError,
  type RequestPhase,
  type RetrySafety,
  type Timings,
} from '../errors.ts'
import type { HeaderBlock } from '../protocol/header-block.ts'
import { noteBodyError } from './body-errors.ts'
import { isReplayable, type WholeSource } from './body-source.ts'
import type { ConnectionFacts, HttpVersion } from './connection-facts.ts'
import type { DispatchHandler } from './dispatch-handler.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { END_RULES, type EndReason, endReason } from './end-reason.ts'
import { describeError } from './error-context.ts'
import { HandledRequest } from './handled-request.ts'
import { RequestController } from './request-controller.ts'
import { ABORTED, REPORTS_LATER, REUSED, SPENT, UPLOADS, WRITTEN } from './request-marks.ts'
import type { RequestContext } from './request-spec.ts'
import { newTimings } from './timings.ts'

/** Where the request is: a queue while it waits, a connection or an exchange while it runs. */
export interface RequestHost {
  /** The request has failed on this side; `reason` is what a connection it runs on is to be closed with. */
  onRequestAborted(request: Request, reason: EndReason): void
  /** The handler takes data again. */
  onRequestResumed(request: Request): void
  /** The handler's `onResponseError` threw: only the `error` event of the dispatcher is left to report it. */
  onHandlerError(error: unknown): void
}

/** Host of a settled request: its exchange must not live as long as what holds the request. */
const NO_HOST: RequestHost = { onRequestAborted() {}, onRequestResumed() {}, onHandlerError() {} }

/** Where a request stands. `running` lasts until a response head; both directions may overlap. */
type State = 'created' | 'queued' | 'running' | 'responding' | 'completed' | 'failed'

/** Of the requests whose response is complete while the rest of their body is sent. */
const uploads = new SignalHub()

export class Request extends HandledRequest {
  readonly #queuedAt = now()
  #timings: Timings | null = null
  #host: RequestHost
  #state: State = 'created'
  #marks = 0
  #controller: RequestController | null = null
  #connection: ConnectionFacts | null = null
  /**
   * Followed by whoever made the call until the response is complete, and here while an upload goes on after
   * that.
   */
  readonly #signal: unknown
  #unfollow: (() => void) | null = null

  constructor(
    options: DispatchOptions,
    handler: DispatchHandler,
    context: RequestContext,
    host: RequestHost,
  ) {
    super(options, handler, context)
    this.#host = host
    this.#signal = (options as { readonly signal?: unknown }).signal
    if (this.source.kind === 'stream') {
      this.source.stream.on('error', (error: Error) => this.onBodyError(error))
    }
    if (channels.requestCreate.hasSubscribers) this.publish(channels.requestCreate, { request: this })
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

  /** The peer has not processed it. */
  onUnseen(): void {
    this.#marks &= ~WRITTEN
  }

  /** Made when something has happened: thousands of requests may wait for that. */
  get timings(): Timings {
    this.#timings ??= newTimings(this.#queuedAt)
    return this.#timings
  }

  /** Of the connection that carries it, or has carried it. */
  get httpVersion(): HttpVersion | null {
    return this.#connection?.httpVersion ?? null
  }

  announceQueued(): void {
    this.#state = 'queued'
    try {
      this.#await(this.callQueued())
    } catch (error) {
      this.abort(error)
    }
  }

  /** Calls `onRequestStart`; false when that has settled the request. */
  start(): boolean {
    invariant(this.#state === 'queued', 'a request starts from the queue')
    this.#state = 'running'
    this.#controller = new RequestController(this)
    try {
      this.#await(this.callStart(this.#controller))
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
    // Nothing that happened on its connection counts.
    Object.assign(this.timings, { connect: null, secured: null, sent: null, firstByte: null })
  }

  onWritten(): void {
    this.#marks |= WRITTEN
  }

  onBodyRead(): void {
    if (!isReplayable(this.source)) this.#marks |= SPENT
  }

  /** The source of the body has failed. */
  onBodyError(error: unknown): void {
    if (!this.settled) noteBodyError(error)
    this.abort(error)
  }

  /**
   * The body went out with the head; bytes are made of it only for a subscriber or a handler that wants them.
   */
  onWholeBodySent(source: WholeSource): void {
    if (this.settled) return
    try {
      if (!channels.requestBodyChunkSent.hasSubscribers && !this.wantsBodySent) return
    } catch (error) {
      this.abort(error)
      return
    }
    this.onBodySent(source.given)
  }

  onBodySent(chunk: string | Uint8Array): void {
    if (this.settled) return
    if (channels.requestBodyChunkSent.hasSubscribers) {
      this.publish(channels.requestBodyChunkSent, { request: this, chunk })
    }
    if (this.settled) return
    try {
      this.#await(this.call('onBodySent', chunk))
    } catch (error) {
      this.abort(error)
    }
  }

  onRequestSent(at: number = now()): void {
    if (this.settled) return
    this.timings.sent = at
    if (channels.requestBodySent.hasSubscribers) this.publish(channels.requestBodySent, { request: this })
    if (this.settled) return
    try {
      this.#await(this.call('onRequestSent'))
    } catch (error) {
      this.abort(error)
    }
  }

  /** `at` is the time of the read that brought it: reading the clock for each response costs. */
  onResponseStarted(at: number = now()): void {
    this.timings.firstByte ??= at
    try {
      this.#await(this.call('onResponseStarted'))
    } catch (error) {
      const host = this.#host
      this.#end(error as Error)
      host.onRequestAborted(this, endReason('aborted', error as Error))
    }
  }

  onHead(statusCode: number, fields: HeaderBlock, statusText: string): void {
    this.#state = 'responding'
    this.onInformational(statusCode, fields, statusText)
  }

  onInformational(statusCode: number, fields: HeaderBlock, statusText: string): void {
    const controller = this.#controller!
    controller.acceptHead(fields)
    if (channels.requestHeaders.hasSubscribers) {
      const response = { statusCode, headers: controller.rawHeaders, statusText }
      this.publish(channels.requestHeaders, { request: this, response })
      if (this.settled) return
    }
    try {
      this.#await(this.callHead(controller, statusCode, fields.toObject(), statusText))
    } catch (error) {
      this.abort(error)
    }
  }

  /** Bytes of the body, in memory that is lent for the length of the call. */
  onData(memory: Buffer, start: number, end: number): void {
    const isObserved = channels.requestBodyChunkReceived.hasSubscribers
    try {
      if (this.takesLentBytes && !isObserved) {
        this.callBytes(this.#controller!, memory, start, end)
        return
      }
      const chunk = ownBytes(memory, start, end)
      if (isObserved) this.publish(channels.requestBodyChunkReceived, { request: this, chunk })
      if (!this.settled) this.#await(this.callData(this.#controller!, chunk))
    } catch (error) {
      this.abort(error)
    }
  }

  /** `uploading`: the rest of the body is sent all the same; `onUploadEnd` follows. */
  onEnd(received: HeaderBlock, at: number = now(), uploading = false): void {
    const controller = this.#controller!
    this.#state = 'completed'
    this.timings.end = at
    const trailers = controller.acceptTrailers(received)
    if (uploading) this.#marks |= UPLOADS
    else this.destroySource(null)
    if (channels.requestTrailers.hasSubscribers) {
      this.publish(channels.requestTrailers, { request: this, trailers: controller.rawTrailers })
    }
    try {
      const answer = this.callEnd(controller, trailers.toObject())
      if (isThenable(answer)) this.#whenRejected(answer, this.#notifyError)
    } catch (error) {
      this.#notifyError(error as Error)
    }
    this.#letGo()
    if (uploading) this.#followSignal()
  }

  /** The caller has the response, but may still give up the upload. */
  #followSignal(): void {
    const signal = this.#signal
    if ((this.#marks & UPLOADS) === 0) return
    try {
      // `dispatch` itself does not look at it, so it may be anything.
      if (!isAbortSource(signal)) return
      if (abortedReason(signal) === null) this.#unfollow = uploads.subscribe(signal, () => this.abort())
      else this.abort()
    } catch {
      // The caller's own signal class may throw; then it cannot stop the upload.
    }
  }

  /** Nothing more of the body is sent after the response. */
  onUploadEnd(): void {
    this.#marks &= ~UPLOADS
    this.#host = NO_HOST
    this.#unfollow?.()
    this.#unfollow = null
  }

  onUpgrade(statusCode: number, fields: HeaderBlock, socket: Duplex): void {
    const controller = this.#controller!
    this.#state = 'completed'
    this.timings.end = now()
    controller.acceptHead(fields)
    try {
      awaitUpgrade(this.call('onRequestUpgrade', controller, statusCode, fields.toObject(), socket), socket)
      // It is the caller's now. A peer that resets it must not end a process that does not listen; an error
      // that the caller destroyed it with, such as one thrown in a callback, is not ours to hide.
      if (!socket.destroyed) socket.on('error', ignoreError)
    } catch (error) {
      destroyQuietly(socket, error as Error)
    }
    this.#letGo()
  }

  /** The caller gives up, or the handler threw. A caller's reason is passed on as it is. */
  abort(reason?: unknown): void {
    if (this.settled) {
      if ((this.#marks & UPLOADS) !== 0) this.#host.onRequestAborted(this, aborted())
      return
    }
    this.#marks |= ABORTED
    // Before the queue, and between the queue and a connection, no host has to know.
    const held = this.#state === 'queued' || this.#connection !== null
    const host = this.#host
    if (reason) this.#end(reason as Error)
    else this.fail(endReason('aborted', new RequestAbortedError()))
    if (held) host.onRequestAborted(this, aborted())
  }

  /** A method of the handler may be an async function: what it rejects with counts as thrown by it. */
  #await(answer: unknown): void {
    if (isThenable(answer)) this.#whenRejected(answer, this.abort)
  }

  /** Apart from the check, which would allocate a scope for every call otherwise. */
  #whenRejected(answer: Promise<unknown>, act: (this: this, error: Error) => void): void {
    answer.then(undefined, (error: Error) => act.call(this, error))
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
   * The failure that follows may have come with the same bytes as the head. A handler that goes on in
   * promises, as `fetch` of the runtime does, has not got there yet: it would miss the failure and wait for
   * the body forever.
   */
  reportLater(): void {
    this.#marks |= REPORTS_LATER
  }

  onResume(): void {
    if (!this.settled) this.#host.onRequestResumed(this)
  }

  #end(error: Error): void {
    if (this.settled) return
    this.#state = 'failed'
    this.timings.end = now()
    this.destroySource(error)
    if ((this.#marks & REPORTS_LATER) !== 0) runtimeSetImmediate(() => this.#notifyError(error))
    else this.#notifyError(error)
  }

  #notifyError(error: Error): void {
    if (channels.requestError.hasSubscribers) {
      this.publish(channels.requestError, { request: this, error: readableError(error) })
    }
    try {
      awaitError(this.call('onResponseError', this.#controller ?? undefined, error), this.#host)
    } catch (thrown) {
      this.#host.onHandlerError(thrown)
    }
    this.#letGo()
  }

  /**
   * The last call was made. A request that has waited for long is in the part of memory that is rarely
   * cleaned, and would keep all that came with its response there.
   */
  #letGo(): void {
    if ((this.#marks & UPLOADS) === 0) this.#host = NO_HOST
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

function aborted(): EndReason {
  return endReason('aborted', new InformationalError('aborted'))
}

function awaitUpgrade(answer: unknown, socket: Duplex): void {
  if (isThenable(answer)) answer.then(undefined, (error: Error) => destroyQuietly(socket, error))
}

function awaitError(answer: unknown, host: RequestHost): void {
  if (isThenable(answer)) answer.then(undefined, (error: unknown) => host.onHandlerError(error))
}
