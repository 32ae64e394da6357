/**
 * `interceptors.throttle`: so many requests at a time, so many per second; the others wait for their turn.
 */
import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { refuse } from '../../relay/refusal.ts'
import { isCall } from '../../request/dispatching.ts'
import { readKey, readPriority, readThrottleOptions, type ThrottleOptions } from './options.ts'
import { Throttle } from './throttle.ts'

/**
 * An interceptor that limits how many requests to an origin run at a time and begin per second, and slows
 * down when the server asks for it. One that is used on several dispatchers limits them together.
 *
 * @example
 * const agent = new Agent().compose(interceptors.throttle({ concurrency: 10, rate: 50 }))
 */
export function throttle(options?: ThrottleOptions | null): Interceptor {
  const settings = inCall(throttle, () => readThrottleOptions(options))
  const shared = new Throttle(settings)
  return ownInterceptor((dispatch, own, _life, held) => (opts, handler) => {
    if (!isCall(opts, handler)) return dispatch(opts, handler)
    let key: string | null
    let priority: number
    try {
      key = readKey(opts, settings, own)
      priority = readPriority(opts)
    } catch (error) {
      return refuse(opts, handler, error)
    }
    if (key === null) return dispatch(opts, handler)
    return shared.dispatch({ opts, handler, dispatch, held }, key, priority)
  })
}
