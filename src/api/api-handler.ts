/**
 * What the handlers of request, stream, pipeline, connect and upgrade share: the abort signal through all
 * phases of a request, and failing exactly once. Works with any dispatcher that calls the handler methods.
 */
import { type AbortSource, abortedReason, isAbortSource, signalHubOf } from '../base/signal.ts'
import { InvalidArgumentError, RequestAbortedError } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'

/** What all five methods understand beside the options of `dispatch`. */
export interface ApiOptions<TOpaque = null> {
  /** Handed back with the result; a falsy value comes back as null. */
  opaque?: TOpaque | undefined
  /** Aborts the request: an AbortSignal, or an EventEmitter that emits `abort`. */
  signal?: AbortSource | null | undefined
  /** `'raw'` gives response headers as a flat list of names and values, as received. */
  responseHeaders?: 'raw' | null | undefined
}

/** An informational response. */
export interface InfoData {
  /** From 102 to 199. */
  statusCode: number
  /** A flat `string[]` with `responseHeaders: 'raw'`. */
  headers: HeaderObject | string[]
}

/** Called for an informational response. */
export type InfoCallback = (info: InfoData) => void

export function checkSignal(signal: unknown): void {
  if (signal && !isAbortSource(signal)) {
    throw new InvalidArgumentError('signal must be an EventEmitter or EventTarget')
  }
}

export function checkMethod(method: unknown): void {
  if (method === 'CONNECT') throw new InvalidArgumentError('invalid method')
}

export function checkOnInfo(onInfo: unknown): void {
  if (onInfo && typeof onInfo !== 'function') throw new InvalidArgumentError('invalid onInfo callback')
}

/** Response headers in the form the caller asked for. */
export function presentHeaders(
  controller: DispatchController,
  headers: HeaderObject,
  form: string | null | undefined,
): HeaderObject | string[] {
  if (form !== 'raw') return headers
  const received = controller.rawHeaders
  if (Array.isArray(received)) return received.map((part) => part.toString('latin1'))
  const flat: string[] = []
  for (const name of Object.keys(headers)) {
    const value = headers[name]!
    if (Array.isArray(value)) for (const one of value) flat.push(name, one)
    else flat.push(name, value)
  }
  return flat
}

/** Adds received fields as own data properties: a peer may name one `__proto__`. */
export function copyFields(target: HeaderObject, fields: HeaderObject | null | undefined): void {
  if (fields === null || fields === undefined) return
  for (const name of Object.keys(fields)) {
    const value = fields[name]!
    if (name === '__proto__') {
      Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
    } else {
      target[name] = value
    }
  }
}

function failOnAbort(handler: ApiHandler, reason: unknown): void {
  handler.fail(reason ?? new RequestAbortedError())
}

function loosenHandler(handler: ApiHandler): void {
  handler.holdWeakly()
}

/** How a handler hears of the signal of its request. */
interface Subscription {
  readonly signal: AbortSource
  readonly owner: Dispatching
  readonly end: () => void
}

/** `failing`: given up from this side, and the dispatcher is told. */
type State = 'open' | 'failing' | 'failed'

export abstract class ApiHandler implements DispatchHandler {
  /** Of the attempt that runs now; null while the request waits. */
  protected controller: DispatchController | null = null
  protected context: unknown = null
  #abortQueued: ((reason?: unknown) => void) | null = null
  #subscription: Subscription | null = null
  #state: State = 'open'
  #error: unknown = null

  /** Called once at most, with what ended the request. */
  protected abstract onFailure(error: unknown): void

  /** Whether the final head was handed out: from then on the request cannot begin again. */
  protected abstract hasResponse(): boolean

  /** Whether something else than the signal may end the request while it waits. */
  protected endsWhileQueued(): boolean {
    return false
  }

  protected get failed(): boolean {
    return this.#state === 'failed'
  }

  /** Dispatches, unless the signal is aborted already: then nothing is sent, and the failure comes at once. */
  start(dispatcher: Dispatching, opts: DispatchOptions, signal: AbortSource | null | undefined): void {
    if (signal) {
      const aborted = abortedReason(signal)
      if (aborted !== null) {
        failOnAbort(this, aborted.reason)
        return
      }
      const end = signalHubOf(dispatcher).subscribe(signal, (reason) => failOnAbort(this, reason))
      this.#subscription = { signal, owner: dispatcher, end }
    }
    try {
      dispatcher.dispatch(opts, this)
    } catch (error) {
      this.#end(error)
    }
  }

  /** Gives the request up from this side: aborts it wherever it is. */
  fail(error: unknown): void {
    if (this.#state !== 'open') return
    this.#state = 'failing'
    this.#error = error
    try {
      if (this.controller !== null) this.controller.abort(error)
      else this.#abortQueued?.(error)
    } finally {
      // Our dispatchers have called onResponseError by now; another one may do it later, or never.
      this.#end(error)
    }
  }

  /** Takes the listener off the signal. */
  protected release(): void {
    this.#subscription?.end()
    this.#subscription = null
  }

  /**
   * Lets the signal go on working, but before long it no longer keeps this handler alive. Not at once: most
   * bodies are read in the same turn of the loop, and a weak subscription costs more than the rest of it.
   */
  protected loosen(): void {
    if (this.#subscription !== null) setImmediate(loosenHandler, this)
  }

  /** The deferred part of {@link loosen}. */
  holdWeakly(): void {
    if (this.#subscription === null) return
    const { signal, owner, end } = this.#subscription
    const endWeak = signalHubOf(owner).subscribeWeakly(signal, this as ApiHandler, failOnAbort)
    this.#subscription = { signal, owner, end: endWeak }
    end()
  }

  /** Missing where nobody can give the request up while it waits: the way to do so is a function for each. */
  get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    const nobody = this.#subscription === null && this.#state === 'open' && !this.endsWhileQueued()
    return nobody ? undefined : this.#onQueued
  }

  #onQueued(abort: (reason?: unknown) => void): void {
    if (this.#state === 'failed') {
      abort(this.#error)
      return
    }
    // Also when a layer below sends again: the controller of the earlier attempt steers nothing any more.
    this.controller = null
    this.#abortQueued = abort
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    if (this.#state === 'failed') {
      controller.abort(this.#error)
      return
    }
    this.controller = controller
    this.context = context
    if (this.hasResponse()) {
      this.fail(new RequestAbortedError('Request aborted: it was started again after its response had begun'))
    }
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    this.#end(error)
  }

  #end(error: unknown): void {
    if (this.#state === 'failed') return
    // A dispatcher may report its own error for an abort; the caller is told the reason that was given.
    if (this.#state === 'open') this.#error = error
    this.#state = 'failed'
    this.release()
    this.onFailure(this.#error)
  }
}
