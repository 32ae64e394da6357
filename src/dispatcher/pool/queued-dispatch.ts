/**
 * A `dispatch()` call that waits in a pool whose members come from a factory, or belong to several origins:
 * it is passed on as it came. The member checks it only then, so everything that can go wrong before is
 * handled here.
 */
import { type CallContext, captureContext, runIn } from '../../base/loop/call-context.ts'
import { InvalidArgumentError, RequestAbortedError } from '../../errors.ts'
import { type BodyStream, destroyBodyOf, isStream } from '../../request/body-source.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { callersReason, type EndReason } from '../../request/end-reason.ts'
import type { Dispatcher } from '../dispatcher.ts'
import { offer } from '../lifecycle.ts'
import type { PoolPolicy, Work, WorkHost } from './policy.ts'

export class QueuedDispatch implements Work {
  readonly #options: DispatchOptions
  /** A body that can fail while it waits, and has to be closed if it does. */
  readonly #stream: BodyStream | null
  readonly #handler: DispatchHandler
  readonly #host: WorkHost
  readonly #context: CallContext | null = captureContext()
  #state: 'waiting' | 'given' | 'failed' = 'waiting'

  constructor(options: DispatchOptions, handler: DispatchHandler, host: WorkHost) {
    if (typeof handler.onResponseError !== 'function') {
      throw new InvalidArgumentError('invalid onResponseError method')
    }
    this.#options = options
    const { body } = options
    this.#stream = isStream(body) ? body : null
    this.#handler = handler
    this.#host = host
  }

  get settled(): boolean {
    return this.#state === 'failed'
  }

  announceQueued(): void {
    try {
      this.#stream?.on('error', (error: Error) => this.#abort(error))
      this.#handler.onRequestQueued?.((reason) => this.#abort(reason))
    } catch (error) {
      this.#abort(error)
    }
  }

  /** From now on it belongs to that dispatcher. Returns whether that one can take more. */
  giveTo(dispatcher: Dispatcher): boolean {
    this.#state = 'given'
    try {
      return runIn(this.#context, offer, null, dispatcher, this.#options, this.#handler) !== 'busy'
    } catch (error) {
      this.#notify(error as Error)
      return true
    }
  }

  fail({ error }: EndReason): void {
    if (this.#state !== 'waiting') return
    this.#state = 'failed'
    runIn(this.#context, destroyBodyOf, null, this.#options, error)
    this.#notify(error)
  }

  #abort(reason: unknown): void {
    if (this.#state !== 'waiting') return
    this.fail(callersReason('aborted', (reason as Error) || new RequestAbortedError()))
    this.#host.onRequestAborted(this)
  }

  #notify(error: Error): void {
    try {
      runIn(this.#context, this.#handler.onResponseError!, this.#handler, null, error)
    } catch (thrown) {
      this.#host.onHandlerError(thrown)
    }
  }
}

/** For pools whose members are any dispatchers. */
export const QUEUED_DISPATCHES: Pick<PoolPolicy, 'make' | 'give'> = {
  make: (call, handler, host) => new QueuedDispatch(call, handler, host),
  give: ({ dispatcher }, work) => (work as QueuedDispatch).giveTo(dispatcher),
}
