/** `interceptors.retry`: sends requests again that have failed, if that can do no harm. */

import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import type { Call } from '../../relay/relayed-request.ts'
import { isCall } from '../../request/dispatching.ts'
import {
  type RetryDispatchOptions,
  type RetryOptions,
  type RetrySettings,
  readRetryOptions,
} from './options.ts'
import { optionsToRepeat } from './repeat.ts'
import { RetriedRequest, type RetriedRequests } from './retried-request.ts'

/**
 * An interceptor that sends a request again when it has failed, or was answered with a status such as 503,
 * and when doing so can do no harm; after a wait that grows, for a limited number of times.
 */
export function retry(options?: RetryOptions | null): Interceptor {
  const settings = inCall(retry, () => readRetryOptions(options))
  return ownInterceptor((dispatch, ownOrigin, _life, held) => {
    const composed: RetrySettings = { ...settings, ownOrigin }
    return (opts, handler) => {
      // A wrong call is for the dispatcher to refuse.
      if (!isCall(opts, handler)) return dispatch(opts, handler)
      return retriedRequest({ opts, handler, dispatch, held }, composed).start()
    }
  })
}

/** A request with the options of its caller merged over those of the interceptor or the agent. */
export function retriedRequest(call: Call, settings: RetrySettings, open?: RetriedRequests): RetriedRequest {
  const { handler, dispatch, held } = call
  const { retryOptions } = call.opts as RetryDispatchOptions
  const own = retryOptions ? readRetryOptions(retryOptions, settings) : settings
  const opts = optionsToRepeat(call.opts, own)
  return new RetriedRequest({ opts, handler, dispatch, held }, own, open)
}
