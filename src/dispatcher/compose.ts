/**
 * `compose()`: a dispatcher seen through interceptors (contract: dispatcher.md §11). The original is never
 * changed.
 */
import { toDispatchHandler } from '../handler/legacy-handler.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatcher } from './dispatcher.ts'

/** The function that interceptors wrap. */
export type Dispatch = (opts: DispatchOptions, handler: DispatchHandler) => boolean

/** Wraps a dispatch function. The function it returns takes exactly `(opts, handler)`. */
export type Interceptor = (dispatch: Dispatch) => Dispatch

export type InterceptorInput = Interceptor | null | undefined

/** Private state lives on the original only, so these run there. All else runs on the composed view. */
const ACTS_ON_ORIGINAL: ReadonlySet<PropertyKey> = new Set([
  'close',
  'destroy',
  'composedOrigin',
  'addUpstream',
  'removeUpstream',
  'getUpstream',
])

export function compose<T extends Dispatcher>(original: T, interceptors: readonly InterceptorInput[]): T {
  let dispatch: Dispatch = (opts, handler) => original.dispatch(opts, handler)
  for (const interceptor of interceptors) {
    if (interceptor === null || interceptor === undefined) continue
    if (typeof interceptor !== 'function') {
      throw new TypeError(`invalid interceptor, expected function received ${typeof interceptor}`)
    }
    dispatch = interceptor(dispatch)
    if (typeof dispatch !== 'function' || dispatch.length !== 2) throw new TypeError('invalid interceptor')
  }
  const outermost = dispatch
  const origin = original.composedOrigin()

  const composed = (opts: DispatchOptions, handler: DispatchHandler | LegacyDispatchHandler): boolean => {
    const bare = typeof opts === 'object' && opts !== null && !opts.origin
    // Interceptors are written against handlers of the newer generation.
    return outermost(bare && origin !== null ? { ...opts, origin } : opts, toDispatchHandler(handler))
  }

  return new Proxy(original, {
    get(target, key) {
      if (key === 'dispatch') return composed
      const value: unknown = Reflect.get(target, key, target)
      return ACTS_ON_ORIGINAL.has(key) && typeof value === 'function' ? value.bind(target) : value
    },
    set(target, key, value) {
      return Reflect.set(target, key, value, target)
    },
  })
}
