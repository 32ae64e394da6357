/**
 * `RetryHandler`: the handler of a first attempt that a caller dispatches by hand; it sends the others
 * itself.
 */
import { defineKind } from '../../base/object/kind.ts'
import { withoutPollution } from '../../base/object/own-options.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import { checkedHandler } from '../../handler/legacy-handler.ts'
import {
  type OnRetryCallback,
  type RetryCallback,
  type RetryContext,
  type RetryDispatchOptions,
  type RetryHandlers,
  type RetryOptions,
  type RetryState,
  readRetryOptions,
} from './options.ts'
import { RetriedRequest } from './retried-request.ts'

/**
 * A handler that sends its request again when it fails. The caller dispatches the first attempt with it.
 *
 * @example
 * const dispatch = client.dispatch.bind(client)
 * dispatch(opts, new RetryHandler({ ...opts, retryOptions: { maxRetries: 2 } }, { dispatch, handler }))
 */
export class RetryHandler extends ForwardingHandler {
  constructor(options: RetryDispatchOptions, { dispatch, handler }: RetryHandlers) {
    if (typeof dispatch !== 'function') throw new InvalidArgumentError('dispatch must be a function')
    const checked = checkedHandler(handler)
    const opts = withoutPollution({ ...options })
    const settings = readRetryOptions(opts.retryOptions)
    super(new RetriedRequest({ opts, handler: checked, dispatch }, settings).attempt)
  }
}

defineKind(RetryHandler, 'ventuno.RetryHandler')

/** The types under the names that programs written for undici use. */
export declare namespace RetryHandler {
  export type { OnRetryCallback, RetryCallback, RetryContext, RetryHandlers, RetryOptions, RetryState }
}
