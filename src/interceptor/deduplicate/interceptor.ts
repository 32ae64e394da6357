/** `interceptors.deduplicate`: equal concurrent requests are sent once. */

import { inCall } from '../../base/error/public-call.ts'
import { channels } from '../../diagnostics.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { toDispatchHandler } from '../../handler/legacy-handler.ts'
import { OptionNames } from '../../option-names.ts'
import { readExpected } from '../../options.ts'
import { Downstream } from '../../relay/downstream.ts'
import { originOf } from '../../relay/origin-key.ts'
import { OwnTerms } from '../../relay/own-terms.ts'
import { isComplete, refuse } from '../../relay/refusal.ts'
import { withReadableHeaders } from '../../relay/request-headers.ts'
import { type RequestView, viewRequest } from '../../relay/request-view.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { isCandidate, sharedKey } from './key.ts'
import { DEDUPLICATE_OPTIONS, type DeduplicateOptions } from './options.ts'
import { SharedExchange } from './shared-exchange.ts'

const NAMES = new OptionNames('interceptors.deduplicate()', DEDUPLICATE_OPTIONS)

/**
 * An interceptor that sends equal concurrent requests once, and gives the response to all callers.
 *
 * @example
 * const client = new Client('https://example.com').compose(interceptors.deduplicate())
 */
export function deduplicate(options?: DeduplicateOptions): Interceptor {
  const settings = inCall(deduplicate, () => readExpected(DEDUPLICATE_OPTIONS, options, NAMES))
  return ownInterceptor((dispatch, origin, life = () => 'open') => {
    // Where the dispatcher chooses the server, two requests for one path are not the same.
    if (origin === null) return (opts, handler) => dispatch(opts, handler)
    const terms = new OwnTerms()
    /** The last exchange of each key. */
    const running = new Map<string, SharedExchange>()
    let underWay = 0
    const count = (key: string, type: 'added' | 'removed'): void => {
      underWay += type === 'added' ? 1 : -1
      const { pendingRequests } = channels
      if (pendingRequests.hasSubscribers) pendingRequests.publish({ size: underWay, key, type })
    }
    const share = ({ opts }: RequestView, key: string, handler: DispatchHandler): boolean => {
      const downstream = new Downstream(handler, true)
      const earlier = running.get(key)
      if (earlier?.isOpen) return earlier.join(downstream, opts)
      const exchange = new SharedExchange({ dispatch, settings }, downstream, opts, (over) => {
        if (running.get(key) === over) running.delete(key)
        count(key, 'removed')
      })
      running.set(key, exchange)
      count(key, 'added')
      return exchange.send()
    }
    return (opts, given) => {
      const handler = toDispatchHandler(given)
      // It must not join a request from before the dispatcher was closed.
      const isTaken = life() === 'open' && isCall(opts, handler) && isCandidate(opts, settings)
      const target = isTaken ? originOf(opts, origin) : null
      if (target === null || !isComplete(handler)) return dispatch(opts, handler)
      let request: DispatchOptions
      let view: RequestView | null
      try {
        request = withReadableHeaders(opts)
        view = viewRequest(request, target, false)
      } catch (error) {
        return refuse(opts, handler, error)
      }
      const key = view === null ? null : sharedKey(view, settings, terms)
      return key === null ? dispatch(view?.opts ?? request, handler) : share(view!, key, handler)
    }
  })
}
