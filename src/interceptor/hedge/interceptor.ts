/** `interceptors.hedge`: a request whose response is late gets a second attempt beside the first. */
import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { replayOf } from '../../relay/replay.ts'
import { ownOptions } from '../../relay/request-headers.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { HedgedRequest } from './hedged-request.ts'
import { type HedgeOptions, type HedgeSettings, readHedgeOptions } from './options.ts'

/**
 * An interceptor that sends a request a second time if no response head has come after `delay` milliseconds,
 * and takes the response that comes first.
 */
export function hedge(options: HedgeOptions): Interceptor {
  const settings = inCall(hedge, () => readHedgeOptions(options))
  return ownInterceptor((dispatch, own) => (opts, handler) => {
    if (!isCall(opts, handler) || !isHedged(opts, settings)) return dispatch(opts, handler)
    return new HedgedRequest({ opts: ownOptions(opts), handler, dispatch, own }, settings).start()
  })
}

/** Sending it twice is harmless, and possible. */
function isHedged(opts: DispatchOptions, { methods, maxAttempts }: HedgeSettings): boolean {
  if (maxAttempts === 1 || !methods.has(opts.method) || opts.idempotent === false || opts.upgrade)
    return false
  return replayOf(opts.body) === 'always'
}
