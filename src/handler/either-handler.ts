/**
 * The handler for a dispatch function that is not ours: an interceptor of the user's, or the dispatcher of
 * another library. It has the methods of both generations, and fails the request if the function returns a
 * promise that rejects: otherwise the request would never settle, and the rejection would end the process.
 */

import { type Abortable, watched } from '../base/loop/thenable.ts'
import { throwLater } from '../base/loop/throw-later.ts'
import { isKind } from '../base/object/kind.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { type Dispatching, type HeldRequests, type Refusable, whenRefused } from '../request/dispatching.ts'
import { toDispatchHandler } from './legacy-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

type Hook = keyof DispatchHandler

const NEWER_METHODS: readonly Hook[] = [
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
]

type Call = (...args: never[]) => unknown

/**
 * Stands before a handler. It has the methods that this one has, because dispatchers look for them; as own
 * properties, because interceptors write `{ ...handler, onResponseStart() {} }`.
 */
class EitherHandler {
  readonly #inner: DispatchHandler
  /** Ends the attempt that waits or runs. */
  #request: Abortable | null = null
  /** `refused`: what still comes for the request is ignored. */
  #state: 'open' | 'settled' | { readonly refused: unknown } = 'open'

  constructor(inner: DispatchHandler) {
    this.#inner = inner
    const own = this as Partial<Record<Hook, Call>>
    for (const name of NEWER_METHODS) {
      if (typeof inner[name] === 'function') own[name] = (...args) => this.#forward(name, args)
    }
  }

  #forward(name: Hook, args: unknown[]): unknown {
    if (name === 'onRequestQueued') this.#request = { abort: args[0] as DispatchController['abort'] }
    if (name === 'onRequestStart') this.#request = args[0] as DispatchController
    if (typeof this.#state === 'object') {
      if (name === 'onRequestStart') this.#request?.abort(this.#state.refused)
      return undefined
    }
    if (name === 'onResponseError' || name === 'onRequestUpgrade') this.#state = 'settled'
    const method = this.#inner[name]
    const answer: unknown =
      typeof method === 'function' ? Reflect.apply(method, this.#inner, args) : undefined
    // What it throws comes back as an error.
    if (name === 'onResponseEnd') this.#state = 'settled'
    return watched(answer, this.#request)
  }

  /** What has settled by now stays as it is. */
  refuse(error: unknown, opts: DispatchOptions): void {
    if (this.#state !== 'open') return
    // A request that was dispatched tells the handler by itself.
    this.#request?.abort(error)
    if ((this.#state as string) === 'settled') return
    this.#state = { refused: error }
    destroyBodyOf(opts, error)
    this.#inner.onResponseError?.(null, error as Error)
  }
}

answerOlderCalls(EitherHandler as { readonly prototype: object })

/** A handler that knows by itself whether its request has settled. */
interface RefusableHandler extends DispatchHandler {
  refuse?(error: unknown, opts: DispatchOptions): void
}

/** Fails the request of a handler. There is no dispatcher that could report what the handler throws. */
export function refusing(handler: RefusableHandler, opts: DispatchOptions): Refusable {
  return {
    refuse(error) {
      // An `EitherHandler` looks first whether there is anything to refuse.
      if (!(handler instanceof EitherHandler)) destroyBodyOf(opts, error)
      try {
        if (typeof handler.refuse === 'function') handler.refuse(error, opts)
        else handler.onResponseError?.(null, error as Error)
      } catch (thrown) {
        throwLater(thrown)
      }
    },
  }
}

/** `held`: where the request is listed until a function that returns a promise has answered. */
type DispatchTo = (
  dispatcher: Dispatching,
  opts: DispatchOptions,
  handler: DispatchHandler,
  held?: HeldRequests,
) => boolean

/** `dispatch()` of code that is not ours. What it throws comes out. */
export const dispatchForeign: DispatchTo = (dispatcher, opts, handler, held) => {
  const newer = toDispatchHandler(handler)
  // What has no such method is no handler, and dispatchers refuse it.
  if (typeof (newer as DispatchHandler | null | undefined)?.onRequestStart !== 'function') {
    return dispatcher.dispatch(opts, newer)
  }
  return dispatchOwn(dispatcher, opts, new EitherHandler(newer) as DispatchHandler, held)
}

/** `dispatch()` of a dispatcher of ours, which somebody may have replaced by an asynchronous function. */
const dispatchOwn: DispatchTo = (dispatcher, opts, handler, held) => {
  const accepted = dispatcher.dispatch(opts, handler)
  return typeof accepted === 'boolean' ? accepted : whenRefused(accepted, refusing(handler, opts), held)
}

/** How to call `dispatch()` of a dispatcher that the caller has chosen. */
export function dispatchFor(dispatcher: Dispatching): DispatchTo {
  return isKind(dispatcher.constructor) ? dispatchOwn : dispatchForeign
}

/** `dispatch()` of such a dispatcher. */
export const dispatchOn: DispatchTo = (dispatcher, opts, handler, held) =>
  dispatchFor(dispatcher)(dispatcher, opts, handler, held)
