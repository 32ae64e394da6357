/**
 * The handler that a dispatch function gets which is not ours: an interceptor of the user's, or the
 * dispatcher of another library. It answers to both generations, and fails the request if the function
 * returns a promise that rejects: nobody else would see that, the request would never settle, and the process
 * would end.
 */

import { throwLater } from '../base/loop/throw-later.ts'
import { isKind } from '../base/object/kind.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { type Dispatching, type Refusable, whenRefused } from '../request/dispatching.ts'
import { toDispatchHandler } from './legacy-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

const NEWER_METHODS = [
  'onRequestQueued',
  'onRequestStart',
  'onBodySent',
  'onRequestSent',
  'onResponseStarted',
  'onResponseStart',
  'onResponseData',
  'onResponseBytes',
  'onResponseEnd',
  'onRequestUpgrade',
  'onResponseError',
] as const

type AbortFunction = (reason?: unknown) => void
type Call = (...args: never[]) => void

/**
 * Stands before a handler. It has the methods that this one has, because dispatchers check and count on them;
 * as its own, because interceptors write `{ ...handler, onResponseStart() {} }`.
 */
class EitherHandler {
  readonly #inner: DispatchHandler
  readonly #opts: DispatchOptions
  /** Of the attempt that waits or runs. */
  #abort: AbortFunction | null = null
  /** `refused`: what still comes for the request concerns nobody. */
  #state: 'open' | 'settled' | { readonly refused: unknown } = 'open'

  constructor(inner: DispatchHandler, opts: DispatchOptions) {
    this.#inner = inner
    this.#opts = opts
    const own = this as Partial<Record<(typeof NEWER_METHODS)[number], Call>>
    for (const name of NEWER_METHODS) {
      if (typeof inner[name] === 'function') own[name] = (...args) => this.#forward(name, args)
    }
    const start: DispatchHandler['onRequestStart'] = (controller, context) => {
      this.#abort = (reason) => controller.abort(reason)
      if (typeof this.#state === 'object') controller.abort(this.#state.refused)
      else inner.onRequestStart!(controller, context)
    }
    own.onRequestStart = start
  }

  #forward(name: (typeof NEWER_METHODS)[number], args: unknown[]): void {
    if (name === 'onRequestQueued') this.#abort = args[0] as AbortFunction
    if (typeof this.#state === 'object') return
    if (name === 'onResponseError' || name === 'onRequestUpgrade') this.#state = 'settled'
    const method = this.#inner[name]
    if (typeof method === 'function') Reflect.apply(method, this.#inner, args)
    // What it throws comes back as an error.
    if (name === 'onResponseEnd') this.#state = 'settled'
  }

  /** What has settled by now stays as it is. */
  refuse(error: unknown): void {
    if (this.#state !== 'open') return
    try {
      // A request that is on its way tells the handler by itself.
      this.#abort?.(error)
      if (this.#isSettled()) return
      this.#state = { refused: error }
      destroyBodyOf(this.#opts, error)
      this.#inner.onResponseError?.(null, error as Error)
    } catch (thrown) {
      // By the handler. There is no dispatcher that could report it.
      throwLater(thrown)
    }
  }

  #isSettled(): boolean {
    return this.#state === 'settled'
  }
}

answerOlderCalls(EitherHandler as { readonly prototype: object })

/** Fails the request of a handler that may know by itself whether it has settled. */
export function refusing(handler: DispatchHandler & Partial<Refusable>, opts: DispatchOptions): Refusable {
  return {
    refuse(error) {
      destroyBodyOf(opts, error)
      try {
        if (typeof handler.refuse === 'function') handler.refuse(error)
        else handler.onResponseError?.(null, error as Error)
      } catch (thrown) {
        throwLater(thrown)
      }
    },
  }
}

/** `dispatch()` of code that is not ours. What it throws comes out. */
export function dispatchForeign(
  dispatcher: Dispatching,
  opts: DispatchOptions,
  handler: DispatchHandler | LegacyDispatchHandler,
): boolean {
  const newer = toDispatchHandler(handler)
  // What has no such method is no handler, and dispatchers refuse it.
  if (typeof (newer as DispatchHandler | null | undefined)?.onRequestStart !== 'function') {
    return dispatcher.dispatch(opts, newer)
  }
  const either = new EitherHandler(newer, opts)
  return whenRefused(dispatcher.dispatch(opts, either as DispatchHandler), either)
}

/** `dispatch()` of a dispatcher that the caller has chosen. */
export function dispatchOn(
  dispatcher: Dispatching,
  opts: DispatchOptions,
  handler: DispatchHandler,
): boolean {
  return isKind(dispatcher.constructor)
    ? dispatcher.dispatch(opts, handler)
    : dispatchForeign(dispatcher, opts, handler)
}
