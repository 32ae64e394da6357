/** `RetryAgent`: a dispatcher that sends the requests of another one again when they fail. */
import { inCall } from '../../base/error/public-call.ts'
import { defineKind } from '../../base/object/kind.ts'
import type { Dispatch, OwnOrigin } from '../../dispatcher/compose.ts'
import { type ConnectionSnapshot, connectionsOf } from '../../dispatcher/connection-snapshot.ts'
import type { Dispatcher } from '../../dispatcher/dispatcher.ts'
import { closeAll, destroyAll, retireAll } from '../../dispatcher/end-all.ts'
import { LifecycleDispatcher, takesNoMore } from '../../dispatcher/lifecycle.ts'
import { reemit } from '../../dispatcher/reemit.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { PendingSet } from '../../relay/pending-set.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { HELD } from '../../request/dispatching.ts'
import type { EndReason } from '../../request/end-reason.ts'
import { retriedRequest } from './interceptor.ts'
import { type RetryOptions, type RetrySettings, readRetryOptions } from './options.ts'
import type { RetriedRequest } from './retried-request.ts'

/**
 * Sends the requests of another dispatcher again when they fail; see `interceptors.retry`.
 *
 * @example
 * const agent = new RetryAgent(new Agent(), { maxRetries: 2 })
 * const { body } = await agent.request({ origin: 'https://example.com', path: '/', method: 'GET' })
 */
export class RetryAgent extends LifecycleDispatcher {
  readonly #dispatcher: Dispatcher
  readonly #settings: RetrySettings
  readonly #dispatch: Dispatch
  readonly #requests = new PendingSet<RetriedRequest>()

  constructor(dispatcher: Dispatcher, options?: RetryOptions | null) {
    const settings = inCall(RetryAgent, () => readRetryOptions(options))
    const dispatch: unknown = (dispatcher as Partial<Dispatcher> | null | undefined)?.dispatch
    if (typeof dispatch !== 'function' || dispatch === (Object.prototype as Partial<Dispatcher>).dispatch) {
      throw new InvalidArgumentError('Argument dispatcher must implement dispatch')
    }
    const { webSocketOptions, eventSourceOptions } = dispatcher as Partial<LifecycleDispatcher>
    super(webSocketOptions, eventSourceOptions)
    this.#dispatcher = dispatcher
    this.#settings = { ...settings, ownOrigin: this.composedOrigin() }
    this.#dispatch = (opts, handler) => dispatcher.dispatch(opts, handler)
    reemit(this, dispatcher)
  }

  /** @internal */
  override composedOrigin(): OwnOrigin {
    const { composedOrigin } = this.#dispatcher as Partial<Dispatcher>
    return typeof composedOrigin === 'function' ? composedOrigin.call(this.#dispatcher) : undefined
  }

  override connections(): ConnectionSnapshot[] {
    return connectionsOf(this.#dispatcher)
  }

  override retire(): void {
    retireAll([this.#dispatcher])
  }

  protected override accept(opts: DispatchOptions, handler: DispatchHandler): boolean {
    const call = { opts, handler, dispatch: this.#dispatch, held: this[HELD] }
    const request = retriedRequest(call, this.#settings, this.#requests)
    this.#requests.add(request)
    try {
      return request.start()
    } catch (error) {
      this.#requests.delete(request)
      throw error
    }
  }

  protected override get needsDrain(): boolean {
    return takesNoMore(this.#dispatcher)
  }

  protected override finish(done: () => void): void {
    this.#requests.whenEmpty(() => closeAll([this.#dispatcher], done))
  }

  protected override terminate(reason: EndReason, done: () => void): void {
    this.#requests.whenEmpty(null)
    destroyAll([this.#dispatcher], reason, done)
  }
}

defineKind(RetryAgent, 'ventuno.RetryAgent')
