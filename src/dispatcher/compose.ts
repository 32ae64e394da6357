/**
 * `compose()`: a view of a dispatcher that sends every request through interceptors. The original is never
 * changed.
 */
import { EventEmitter } from 'node:events'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { isKind } from '../base/object/kind.ts'
import { withoutPollution } from '../base/object/own-options.ts'
import { dispatchFor, dispatchForeign } from '../handler/either-handler.ts'
import { toDispatchHandler } from '../handler/legacy-handler.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { type Dispatching, HELD, type HeldRequests } from '../request/dispatching.ts'
import type { OwnOrigin } from '../request/logical-origin.ts'

/**
 * The function that interceptors wrap. Such a type is compared like that of a method: those written for
 * undici fit.
 */
// biome-ignore lint/complexity/noBannedTypes: it adds nothing that could be called
export type Dispatch = Dispatching['dispatch'] & Function

export type { OwnOrigin }

/**
 * Wraps a dispatch function. The function it returns takes exactly `(opts, handler)`. `origin` is the only
 * one that requests go to, null if the dispatcher chooses among several, and undefined if `opts.origin`
 * decides. `life` tells whether the dispatcher was closed or destroyed: an interceptor that can answer by
 * itself must not do so any more. What it adds to `held` is refused when the dispatcher is destroyed: it adds
 * the requests that it keeps waiting.
 */
export type Interceptor = (
  dispatch: Dispatch,
  origin?: OwnOrigin,
  life?: () => 'open' | 'closed' | 'destroyed',
  held?: HeldRequests,
) => Dispatch

export type InterceptorInput = Interceptor | null | undefined

const OWN = Symbol('interceptor of this library')

/**
 * Marks an interceptor that returns what the function below it returns, and gets along with every handler.
 */
export function ownInterceptor(interceptor: Interceptor): Interceptor {
  return Object.defineProperty(interceptor, OWN, { value: true })
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Built on `dispatch` alone, so they run on the view and go through the interceptors. */
const RUN_ON_VIEW: ReadonlySet<PropertyKey> = new Set(
  'request stream pipeline connect upgrade compose'.split(' '),
)

/** Interceptors get `origin` as their second argument, and as `opts.origin` when the caller gave none. */
export function compose<T extends Dispatching & object>(
  original: T,
  interceptors: readonly InterceptorInput[],
  origin: OwnOrigin,
): T {
  const { [HELD]: held } = original as { [HELD]?: HeldRequests }
  const send = dispatchFor(original)
  let dispatch: Dispatching['dispatch'] = (opts, handler) => send(original, opts, handler, held)
  const lifecycle: { readonly closed?: unknown; readonly destroyed?: unknown } = original as object
  const life = (): 'open' | 'closed' | 'destroyed' => {
    if (lifecycle.destroyed === true) return 'destroyed'
    return lifecycle.closed === true ? 'closed' : 'open'
  }
  for (const interceptor of interceptors) {
    if (interceptor === null || interceptor === undefined) continue
    if (typeof interceptor !== 'function') {
      throw new TypeError(`invalid interceptor, expected function received ${typeof interceptor}`)
    }
    const made = interceptor(dispatch, origin, life, held)
    if (typeof made !== 'function' || made.length !== 2) {
      ignoreRejection(made)
      throw new TypeError('invalid interceptor')
    }
    // Its handlers come from the caller, or from the next interceptor.
    const foreign = { dispatch: made }
    dispatch =
      OWN in interceptor
        ? (opts, handler) => made(opts, toDispatchHandler(handler))
        : (opts, handler) => dispatchForeign(foreign, opts, handler, held)
  }
  const outermost = dispatch

  const composed = (opts: DispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean => {
    const own = withoutPollution(opts)
    if (!origin || typeof own !== 'object' || own === null || own.origin) return outermost(own, handler)
    // A property that is added to a spread makes a slow object of it in Node 20.
    const named = 'origin' in own ? { ...own, origin } : { origin, ...own }
    return outermost(own === opts ? named : withoutPollution(named), handler)
  }

  const rest = new Proxy(original, {
    get(target, key) {
      // Read for each request: an ordinary access is much faster than one by name.
      if (key === 'request') return (target as { request?: unknown }).request
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function' || !runsOnOriginal(target, key)) return value
      return (...args: unknown[]) => {
        const result = (value as Method).apply(target, args)
        return result === target ? view : result
      }
    },
    set(target, key, value) {
      return Reflect.set(target, key, value, target)
    },
  })
  // Its own member, so that a request does not go through the Proxy to reach it, and a test can replace it.
  const view: T = Object.create(rest, {
    dispatch: { value: composed, writable: true, configurable: true },
  })
  return view
}

/**
 * Whether a class of this library declares the method: it may use private fields, which a Proxy does not
 * have. The methods that a user's subclass adds, and those of EventEmitter, run on the view.
 */
function runsOnOriginal(target: object, key: PropertyKey): boolean {
  if (RUN_ON_VIEW.has(key) || key === 'constructor') return false
  let isOurs = false
  let prototype = Object.getPrototypeOf(target) as object | null
  for (
    ;
    prototype !== null && prototype !== EventEmitter.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    // The bases of a class of ours are ours. Before them there may be other views, which show what is the
    // original's own.
    isOurs ||= Object.hasOwn(prototype, 'constructor') && isKind(prototype.constructor)
    if (isOurs && Object.hasOwn(prototype, key)) return true
  }
  return false
}
