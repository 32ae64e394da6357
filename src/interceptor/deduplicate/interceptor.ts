/** `interceptors.deduplicate`: concurrent requests for the same are one request. */

import { withoutPollution } from '../../base/object/own-options.ts'
import { channels } from '../../diagnostics.ts'
import { type Dispatch, type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { toDispatchHandler } from '../../handler/legacy-handler.ts'
import { readExpected } from '../../options.ts'
import { Downstream } from '../../relay/downstream.ts'
import { originOf } from '../../relay/origin-key.ts'
import { OwnTerms } from '../../relay/own-terms.ts'
import { isComplete, refuse } from '../../relay/refusal.ts'
import { readableAgain } from '../../relay/request-headers.ts'
import { type RequestView, viewRequest } from '../../relay/request-view.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { isCandidate, sharedKey } from './key.ts'
import { DEDUPLICATE_OPTIONS, type DeduplicateOptions, type DeduplicateSettings } from './options.ts'
import { type DeduplicateHost, SharedExchange } from './shared-exchange.ts'

/**
 * An interceptor that sends concurrent requests for the same once, and gives the response to all callers.
 *
 * @example
 * const client = new Client('https://example.com').compose(interceptors.deduplicate())
 */
export function deduplicate(options?: DeduplicateOptions): Interceptor {
  const settings = readExpected(DEDUPLICATE_OPTIONS, options)
  return ownInterceptor((dispatch, origin, life = () => 'open') => {
    // Where the dispatcher chooses the server, two requests for one path are not the same.
    if (origin === null) return (opts, handler) => dispatch(opts, handler)
    const deduplicator = new Deduplicator(dispatch, settings, origin)
    return (opts, handler) => {
      // It must not join a request from before.
      if (life() !== 'open') return dispatch(opts, handler)
      return deduplicator.handle(opts, toDispatchHandler(handler))
    }
  })
}

class Deduplicator implements DeduplicateHost {
  readonly dispatch: Dispatch
  readonly settings: DeduplicateSettings
  /** The last one of each key. */
  readonly #running = new Map<string, SharedExchange>()
  #underWay = 0
  readonly #terms = new OwnTerms()
  readonly #ownOrigin: string | undefined

  constructor(dispatch: Dispatch, settings: DeduplicateSettings, ownOrigin: string | undefined) {
    this.dispatch = dispatch
    this.settings = settings
    this.#ownOrigin = ownOrigin
  }

  handle(opts: DispatchOptions, handler: DispatchHandler): boolean {
    if (!isCall(opts, handler) || !isCandidate(opts, this.settings)) return this.dispatch(opts, handler)
    const origin = originOf(opts, this.#ownOrigin)
    if (origin === null || !isComplete(handler)) return this.dispatch(opts, handler)
    // An iterator can be read only once.
    let request = opts
    let view: RequestView | null
    try {
      const headers = readableAgain(opts.headers)
      if (headers !== opts.headers) request = withoutPollution({ ...opts, headers })
      view = viewRequest(request, origin, false)
    } catch (error) {
      return refuse(opts, handler, error)
    }
    if (view === null) return this.dispatch(request, handler)
    const key = sharedKey(view, this.settings, this.#terms)
    if (key === null) return this.dispatch(view.opts, handler)
    const running = this.#running.get(key)
    const downstream = new Downstream(handler, true)
    if (running?.isOpen) return running.join(downstream, view.opts)
    const exchange = new SharedExchange(this, downstream, view.opts, (over) => {
      if (this.#running.get(key) === over) this.#running.delete(key)
      this.#count(key, 'removed')
    })
    this.#running.set(key, exchange)
    this.#count(key, 'added')
    return exchange.send()
  }

  #count(key: string, type: 'added' | 'removed'): void {
    this.#underWay += type === 'added' ? 1 : -1
    const { pendingRequests } = channels
    if (pendingRequests.hasSubscribers) pendingRequests.publish({ size: this.#underWay, key, type })
  }
}
