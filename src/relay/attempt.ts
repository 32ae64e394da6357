/**
 * One dispatch below: the handler that a dispatcher gets, which can give the request up wherever it is.
 * Reports to its owner, and never again after `onEnd`, `onUpgrade` or `onFailed`. Does not know who made the
 * call.
 */
import type { Duplex } from 'node:stream'
import { discardSocket } from '../base/node/discard-socket.ts'
import { RequestAbortedError } from '../errors.ts'
import { refusing } from '../handler/either-handler.ts'
import { answerOlderCalls } from '../handler/older-calls.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { whenRefused } from '../request/dispatching.ts'
import { type ResponseFacts, responseFacts } from './response-facts.ts'
import type { Head, ResponseSource } from './response-source.ts'

type AbortFunction = (reason?: unknown) => void
type BodySentHook = NonNullable<DispatchHandler['onBodySent']>
type BytesHook = NonNullable<DispatchHandler['onResponseBytes']>

/** What sends a request. */
export type Send = (opts: DispatchOptions, handler: DispatchHandler) => boolean

/**
 * Whoever has sent the attempt. What these methods throw goes to the dispatcher, which fails the attempt with
 * it.
 */
export interface AttemptOwner {
  /** Again if a layer below sends it again. */
  onStarted(attempt: Attempt, context: unknown): void
  /** For each informational head and for the final one. */
  onHead(attempt: Attempt, head: Head): void
  onData(attempt: Attempt, chunk: Buffer): void
  /** In place of `onData`, for bytes in memory that is lent for the length of the call. */
  onBytes?(attempt: Attempt, memory: Buffer, start: number, end: number): void
  onEnd(attempt: Attempt, trailers: HeaderObject): void
  onUpgrade(attempt: Attempt, head: Head, socket: Duplex): void
  /**
   * Also after `abort()`, within that call at the latest: with its reason, or else with what the dispatcher
   * reported.
   */
  onFailed(attempt: Attempt, error: Error): void
}

/** Is told how far the request has got: a `Downstream`, or what stands for several. */
export interface AttemptProgress {
  /** A dispatcher makes a function for each request that can be given up while it waits. */
  readonly wantsQueued: boolean
  /** A dispatcher converts a body that is a string to bytes for this. */
  readonly wantsBodySent: boolean
  announce(): void
  bodySent(chunk: string | Uint8Array): void
  notify(name: 'onRequestSent' | 'onResponseStarted'): void
}

/**
 * `responding`: the final head has come. `aborting`: nothing but the error of the dispatcher can still come.
 */
type State = 'waiting' | 'responding' | 'aborting' | 'over'

export class Attempt implements DispatchHandler, ResponseSource {
  readonly #owner: AttemptOwner
  readonly #progress: AttemptProgress | null
  readonly #isQueueable: boolean
  /** Null until it has started. */
  controller: DispatchController | null = null
  /** Head and body of the request were handed over. */
  isSent = false
  #abortQueued: AbortFunction | null = null
  #state: State = 'waiting'
  #reason: unknown
  /** Beside the state: the owner may pause it before it has started. */
  #paused = false

  /**
   * @param isQueueable Whether it can be given up while it waits in a queue. Default: if its progress is
   * wanted from there on.
   */
  constructor(owner: AttemptOwner, progress: AttemptProgress | null, isQueueable?: boolean) {
    this.#owner = owner
    this.#progress = progress
    this.#isQueueable = isQueueable ?? progress?.wantsQueued === true
  }

  get #isOpen(): boolean {
    return this.#state === 'waiting' || this.#state === 'responding'
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** What the layers below say about its response. */
  get facts(): ResponseFacts {
    return responseFacts(this.controller)
  }

  /** Throws what the dispatcher throws, and is over then. */
  send(dispatch: Send, opts: DispatchOptions): boolean {
    try {
      const accepted = dispatch(opts, this)
      return typeof accepted === 'boolean' ? accepted : whenRefused(accepted, refusing(this, opts))
    } catch (error) {
      this.#state = 'over'
      throw error
    }
  }

  /** By a dispatcher that has returned a promise. */
  refuse(error: unknown): void {
    this.abort(error)
  }

  /** Ends it wherever it is. A dispatcher of another library may report the end later, or never. */
  abort(reason?: unknown): void {
    if (!this.#isOpen) return
    this.#state = 'aborting'
    this.#reason = reason
    try {
      this.#abortBelow()
    } finally {
      if (!this.isOver) this.onResponseError(null, new RequestAbortedError())
    }
  }

  #abortBelow(): void {
    if (this.controller !== null) this.controller.abort(this.#reason)
    else this.#abortQueued?.(this.#reason)
  }

  pause(): void {
    if (this.#paused) return
    this.#paused = true
    if (this.#isOpen) this.controller?.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    if (this.#isOpen) this.controller?.resume()
  }

  get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    return this.#isQueueable ? this.#onQueued : undefined
  }

  #onQueued(abort: AbortFunction): void {
    // A layer below may send it again: the earlier controller has no effect any more.
    this.controller = null
    this.#abortQueued = abort
    if (this.#isOpen) this.#progress?.announce()
    else this.#abortBelow()
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.controller = controller
    if (!this.#isOpen) {
      this.#abortBelow()
      return
    }
    if (this.#paused) controller.pause()
    this.#owner.onStarted(this, context)
  }

  get onBodySent(): BodySentHook {
    // Undefined means absent here, which the type of an optional method does not let a getter say.
    return (this.#progress?.wantsBodySent === true ? this.#onBodySent : undefined) as BodySentHook
  }

  #onBodySent(chunk: string | Uint8Array): void {
    if (this.#isOpen) this.#progress?.bodySent(chunk)
  }

  onRequestSent(): void {
    this.isSent = true
    if (this.#isOpen) this.#progress?.notify('onRequestSent')
  }

  onResponseStarted(): void {
    if (this.#isOpen) this.#progress?.notify('onResponseStarted')
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (!this.#isOpen) return
    this.controller = controller
    if (statusCode >= 200) this.#state = 'responding'
    this.#owner.onHead(this, { statusCode, headers, statusText })
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    if (this.#isOpen) this.#owner.onData(this, chunk)
  }

  get onResponseBytes(): BytesHook {
    return (this.#owner.onBytes === undefined ? undefined : this.#onBytes) as BytesHook
  }

  #onBytes(_controller: DispatchController, memory: Buffer, start: number, end: number): void {
    if (this.#isOpen) this.#owner.onBytes!(this, memory, start, end)
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    if (this.#state === 'waiting') {
      // Nothing more can follow that would answer the caller.
      this.onResponseError(controller, new RequestAbortedError('Request aborted: the response has no head'))
    } else if (this.#state === 'responding') {
      this.#state = 'over'
      this.controller = controller
      this.#owner.onEnd(this, trailers)
    }
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    if (!this.#isOpen) {
      discardSocket(socket)
      return
    }
    this.#state = 'over'
    this.controller = controller
    this.#owner.onUpgrade(this, { statusCode, headers, statusText: undefined }, socket)
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    if (this.#state === 'over') return
    const reason = this.#state === 'aborting' ? this.#reason : null
    this.#state = 'over'
    this.#owner.onFailed(this, (reason || error) as Error)
  }
}

answerOlderCalls(Attempt)
