/**
 * What the handlers of request, stream, pipeline, connect and upgrade share: the abort signal through all
 * phases of a request, informational and repeated heads, pausing, and failing exactly once. Works with any
 * dispatcher that calls the handler methods.
 */

import type { AsyncResource } from 'node:async_hooks'
import type { Duplex } from 'node:stream'
import { AbortLink, type AbortTarget } from '../base/abort/abort-link.ts'
import { type AbortSource, isAbortSource } from '../base/abort/signal.ts'
import { placeOrigin } from '../base/address/place-origin.ts'
import { addCallSite, atCaller, type CallSite, callSite } from '../base/error/public-call.ts'
import { runtimeSetImmediate } from '../base/loop/runtime-turns.ts'
import { discardSocket } from '../base/node/discard-socket.ts'
import { InvalidArgumentError, RequestAbortedError, SocketError } from '../errors.ts'
import { answerOlderCalls } from '../handler/older-calls.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { type Dispatching, whenRefused } from '../request/dispatching.ts'
import { flatFields } from '../request/received-fields.ts'
import { isTimeLimit, phaseOf, timeLimitError } from './time-limit.ts'

/** The options of all five methods, in addition to those of `dispatch`. */
export interface ApiOptions<TOpaque = null> {
  /** Handed back with the result; a falsy value comes back as null. */
  opaque?: TOpaque | undefined
  /** Aborts the request: an AbortSignal, or an EventEmitter that emits `abort`. */
  signal?: AbortSource | null | undefined
  /** `'raw'` gives response headers as a flat list of names and values, as received. */
  responseHeaders?: 'raw' | null | undefined
}

/** Any object that the dispatcher provides, or null. As in undici, the type leaves out the null. */
export type RequestContext = object

/**
 * Text by lower-case name. A field that was sent more than once is a list; as in undici, the type leaves that
 * out.
 */
export type ReceivedTrailers = Record<string, string>

/** The head of a response, as callers get it. */
export interface ResponseHead<TOpaque> {
  /** Of the final response. */
  statusCode: number
  /** By lower-case name; a flat `string[]` with `responseHeaders: 'raw'`. */
  headers: HeaderObject
  /** The value of `opts.opaque`; null for a falsy one. */
  opaque: TOpaque
  /** The context that the dispatcher passed to `onRequestStart`; null from a client. */
  context: RequestContext
}

/** An informational response. */
export interface InfoData<THeaders = Record<string, string | string[]>> {
  /** From 102 to 199. */
  statusCode: number
  /** A flat `string[]` with `responseHeaders: 'raw'`. */
  headers: THeaders
}

/** Called for an informational response. Declared as a method, so that callbacks written for undici fit. */
export type InfoCallback<THeaders = Record<string, string | string[]>> = {
  onInfo(info: InfoData<THeaders>): void
}['onInfo']

/** The options as a handler keeps them. */
interface HandledOptions<TOpaque> extends ApiOptions<TOpaque> {
  readonly onInfo?: InfoCallback | null | undefined
  readonly body?: unknown
}

export function checkSignal(signal: unknown): void {
  if (signal && !isAbortSource(signal)) {
    throw new InvalidArgumentError('signal must be an EventEmitter or EventTarget')
  }
}

/** For the methods that answer with a response. Those that answer with a socket send CONNECT themselves. */
export function checkResponseOptions(opts: { signal?: unknown; method?: unknown; onInfo?: unknown }): void {
  checkSignal(opts.signal)
  if (opts.method === 'CONNECT') throw new InvalidArgumentError('invalid method')
  if (opts.onInfo && typeof opts.onInfo !== 'function') {
    throw new InvalidArgumentError('invalid onInfo callback')
  }
}

/** `ended`: the dispatcher has reported the end. */
type State = 'open' | 'ended' | Failure

/** `failing`: this side has given up, and the dispatcher is being asked to abort. */
interface Failure {
  at: 'failing' | 'failed'
  readonly error: unknown
}

export abstract class ApiHandler<TOpaque = unknown> implements DispatchHandler, AbortTarget {
  protected readonly opts: HandledOptions<TOpaque>
  /** The async context of the call, for the caller's functions; null if there are none. */
  protected readonly resource: AsyncResource | null
  /** Of the attempt that runs now; null while the request waits. */
  protected controller: DispatchController | null = null
  protected context: unknown = null
  /** The final head, or the socket, was handed out: from then on the request cannot begin again. */
  protected hasResponse = false
  /** Null until it was called. */
  protected dispatcher: Dispatching | null = null
  /** For `RUNTIME_DEBUG=stacks`. */
  declare readonly callSite?: CallSite
  /** Whether something other than the signal can end the request while it waits. */
  declare protected readonly endsWhileQueued?: boolean
  #paused = false
  #abortQueued: ((reason?: unknown) => void) | null = null
  #link: AbortLink | null = null
  #state: State = 'open'

  constructor(opts: HandledOptions<TOpaque>, resource: AsyncResource | null) {
    this.opts = opts
    this.resource = resource
    const site = callSite()
    if (site !== null) this.callSite = site
  }

  /** The final head of the response; what it throws fails the request. */
  protected abstract onFinalHead(statusCode: number, headers: HeaderObject, statusText: string): void

  /** The end of a response whose final head was handed out. */
  protected abstract onFinalEnd(trailers: HeaderObject): void

  /** Called once at most, with the reason. */
  protected abstract onFailure(error: unknown): void

  protected get failed(): boolean {
    return typeof this.#state === 'object' && this.#state.at === 'failed'
  }

  /** All of the response has come. */
  protected get isComplete(): boolean {
    return this.#state === 'ended'
  }

  /** Null for a falsy value, whatever its type says. */
  protected get opaque(): TOpaque {
    return (this.opts.opaque || null) as TOpaque
  }

  /**
   * Response headers in the form that the caller asked for: an object, as declared, or a flat list for
   * `'raw'`.
   */
  protected present(headers: HeaderObject): HeaderObject {
    if (this.opts.responseHeaders !== 'raw') return headers
    const { rawHeaders } = this.controller!
    const isList = Array.isArray(rawHeaders)
    const list = isList ? rawHeaders.map((part) => part.toString('latin1')) : flatFields(headers)
    return list as unknown as HeaderObject
  }

  /**
   * Dispatches, unless the signal is aborted already: then nothing is sent, and the failure comes at once.
   * What the caller's signal or the dispatcher throws is a failure, too.
   */
  start(dispatcher: Dispatching, opts: DispatchOptions): void {
    this.dispatcher = dispatcher
    try {
      const { signal } = this.opts
      if (signal) this.#link = AbortLink.to(signal, this)
      if (this.#state !== 'open') return
      whenRefused(dispatcher.dispatch(opts, this), this)
    } catch (error) {
      this.#end(error)
    }
  }

  /** Called for a dispatcher that returned a promise, if it rejects. */
  refuse(error: unknown): void {
    if (this.#state === 'open') this.fail(error)
  }

  onAbort(reason: unknown): void {
    this.withdraw(isTimeLimit(reason) ? this.#timeLimit(reason) : (reason ?? new RequestAbortedError()))
  }

  /** The reason itself if the request was not begun, or if what it asks for cannot be read. */
  #timeLimit(reason: unknown): unknown {
    const link = this.#link
    if (link === null) return reason
    try {
      const { method, origin, path } = this.opts as Partial<DispatchOptions>
      return timeLimitError(reason, {
        method: String(method ?? 'GET'),
        origin: placeOrigin(origin ?? this.dispatcher),
        path: String(path),
        starts: link.starts,
        phase: phaseOf(link.starts > 0, this.hasResponse, this.controller?.timings ?? null),
      })
    } catch {
      return reason
    }
  }

  /** The caller gives up. */
  protected withdraw(reason: unknown): void {
    this.fail(reason)
  }

  /** Gives up the request from this side, wherever it is. */
  fail(error: unknown): void {
    if (typeof this.#state === 'object') return
    this.#state = { at: 'failing', error }
    try {
      if (this.controller !== null) this.controller.abort(error)
      else this.#abortQueued?.(error)
    } finally {
      // Our dispatchers have called onResponseError by now; another one may do it later, or never.
      this.#end(error)
    }
  }

  /** Stops listening to the signal. */
  protected release(): void {
    this.#link?.end()
    this.#link = null
  }

  /**
   * The signal still aborts the request, but soon it no longer keeps this handler alive. Not at once: most
   * bodies are read in the same turn of the loop, and a weak subscription is expensive.
   */
  protected loosen(): void {
    if (this.#link !== null) runtimeSetImmediate(ApiHandler.#loosen, this)
  }

  static #loosen(handler: ApiHandler): void {
    handler.#link?.loosen(handler)
  }

  /**
   * Undefined if nothing can abort the request while it waits: dispatchers create an abort function for each
   * handler that has this method.
   */
  get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    const isFixed = this.#link === null && this.#state === 'open' && !this.endsWhileQueued
    return isFixed ? undefined : this.#onQueued
  }

  #onQueued(abort: (reason?: unknown) => void): void {
    const state = this.#state
    if (typeof state === 'object' && state.at === 'failed') {
      abort(state.error)
      return
    }
    // A layer below may send the request again; the controller of the earlier attempt is then useless.
    this.controller = null
    this.#abortQueued = abort
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    const state = this.#state
    if (typeof state === 'object' && state.at === 'failed') {
      controller.abort(state.error)
      return
    }
    this.controller = controller
    this.context = context
    if (this.#link !== null) this.#link.starts++
    if (this.hasResponse) {
      this.fail(new RequestAbortedError('Request aborted: it was started again after its response had begun'))
    }
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void {
    if (this.failed) return
    this.controller = controller
    try {
      if (statusCode < 200) this.#inform(statusCode, headers)
      else if (this.hasResponse) {
        throw new RequestAbortedError('Request aborted: a second final response head came')
      } else this.onFinalHead(statusCode, headers, statusText)
    } catch (error) {
      this.fail(error)
    }
  }

  #inform(statusCode: number, headers: HeaderObject): void {
    const { onInfo } = this.opts
    if (!onInfo || this.resource === null || statusCode === 100 || statusCode === 101) return
    this.resource.runInAsyncScope(onInfo, null, { statusCode, headers: this.present(headers) })
  }

  /** Asks the dispatcher to stop delivering data. */
  pause(): void {
    this.#paused = true
    this.controller?.pause()
  }

  /** Undoes a pause; without one it does nothing. */
  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.controller?.resume()
  }

  /** A caller that asked for a response cannot use a socket. A declined upgrade comes as a response. */
  onRequestUpgrade(
    _controller: DispatchController,
    _statusCode: number,
    _headers: HeaderObject,
    socket: Duplex,
  ): void {
    discardSocket(socket)
    this.#end(new SocketError('bad upgrade', null))
  }

  onResponseEnd(_controller: DispatchController, trailers: HeaderObject): void {
    if (this.failed) return
    this.#state = 'ended'
    if (this.hasResponse) this.onFinalEnd(trailers)
    // Nothing can follow that would answer the caller.
    else this.#end(new RequestAbortedError('Request aborted: the response has no head'))
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    this.#end(error)
  }

  #end(error: unknown): void {
    if (this.failed) return
    // A dispatcher may report an abort with an error of its own; the caller gets the reason it gave.
    const failure = typeof this.#state === 'object' ? this.#state : { at: 'failed' as const, error }
    failure.at = 'failed'
    this.#state = failure
    addCallSite(atCaller(failure.error), this.callSite)
    this.release()
    destroyBodyOf(this.opts, failure.error)
    this.onFailure(failure.error)
  }
}

answerOlderCalls(ApiHandler)
