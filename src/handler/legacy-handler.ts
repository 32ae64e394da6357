/**
 * Adapts a handler of the older generation (`onConnect` …, which the built-in `fetch` of Node 20, 22 and 24
 * uses) to the newer one (`onRequestStart` …).
 */
// biome-ignore-all lint/correctness/noVoidTypeReturn: a handler may have async functions, and the dispatcher looks at their promises
import type { Duplex } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { InvalidArgumentError } from '../errors.ts'
import { type HeaderObject, toBuffers } from '../protocol/header-block.ts'
import type {
  DispatchController,
  DispatchHandler,
  LegacyDispatchHandler,
} from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { flatFields, type RawFields, rawList } from '../request/received-fields.ts'
import { answerOlderCalls } from './older-calls.ts'
import { parseHeaders } from './raw-headers.ts'

const LEGACY_METHODS = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onUpgrade', 'onError'] as const

/**
 * A handler with `onRequestStart` is a new one whatever else it has. `onRequestUpgrade` alone decides
 * nothing: handlers of Node 24 have it beside the old methods. A handler with no method of either kind counts
 * as a new one, so that its author gets an error about the method that is missing.
 */
export function isLegacyHandler(handler: unknown): handler is LegacyDispatchHandler {
  if (typeof handler !== 'object' || handler === null) return false
  const candidate = handler as DispatchHandler & LegacyDispatchHandler
  if (typeof candidate.onRequestStart === 'function') return false
  return LEGACY_METHODS.some((name) => typeof candidate[name] === 'function')
}

/** Of a call with this handler: the WebSocket of Node 20, 22 and 24 knows only the handshake of HTTP/1.1. */
export function optionsFor<T extends DispatchOptions>(options: T, handler: unknown): T {
  const isOlder = options?.upgrade === 'websocket' && isLegacyHandler(handler)
  return isOlder ? { ...options, allowH2: false } : options
}

/** Returns a new handler unchanged. Anything but a handler comes back too, and `dispatch` refuses it. */
export function toDispatchHandler(handler: DispatchHandler | LegacyDispatchHandler): DispatchHandler {
  return isLegacyHandler(handler) ? new LegacyHandler(handler) : (handler as DispatchHandler)
}

/** The handler that a caller has given. */
export function checkedHandler(handler: DispatchHandler | LegacyDispatchHandler): DispatchHandler {
  if (typeof handler === 'object' && handler !== null) return toDispatchHandler(handler)
  throw new InvalidArgumentError('handler must be an object')
}

/**
 * Names and values by turns: as received, unless the controller did not keep them, or an interceptor has
 * changed the fields since.
 */
function rawFields(given: RawFields | undefined, fields: HeaderObject | null | undefined): Buffer[] {
  const received = rawList(given)
  const isKept = received !== null && (!fields || isDeepStrictEqual(parseHeaders(received), { ...fields }))
  return isKept ? received : toBuffers(flatFields(fields))
}

class LegacyHandler implements DispatchHandler {
  readonly #handler: LegacyDispatchHandler
  #controller: DispatchController | null = null
  #paused = false
  #failed = false

  constructor(handler: LegacyDispatchHandler) {
    this.#handler = handler
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.#controller = controller
    this.#paused = false
    return this.#handler.onConnect?.(this.#abort, context)
  }

  onBodySent(chunk: string | Uint8Array): void {
    return this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    return this.#handler.onRequestSent?.()
  }

  onResponseStarted(): void {
    return this.#handler.onResponseStarted?.()
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void {
    const raw = rawFields(controller.rawHeaders, headers)
    const more = this.#handler.onHeaders?.(statusCode, raw, this.#resume, statusText)
    // Node 24 answers `false` to informational heads and never resumes after them.
    if (more === false && statusCode >= 200) this.#pause(controller)
    return more as void
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    const more = this.#handler.onData?.(chunk)
    if (more === false) this.#pause(controller)
    return more as void
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    return this.#handler.onComplete?.(rawFields(controller.rawTrailers, trailers))
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    return this.#handler.onUpgrade?.(statusCode, rawFields(controller.rawHeaders, headers), socket) as void
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    this.#failed = true
    if (typeof this.#handler.onError !== 'function') throw error
    return this.#handler.onError(error) as void
  }

  #pause(controller: DispatchController): void {
    this.#paused = true
    controller.pause()
  }

  // The built-in body stream resumes on every read, paused or not.
  readonly #resume = (): void => {
    if (!this.#paused) return
    this.#paused = false
    this.#controller?.resume()
  }

  // The built-in fetch aborts from inside `onError`.
  readonly #abort = (reason?: unknown): void => {
    if (!this.#failed) this.#controller?.abort(reason)
  }
}

// An interceptor of the older generation may stand before it.
answerOlderCalls(LegacyHandler)
