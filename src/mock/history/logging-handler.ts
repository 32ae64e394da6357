/** Adds the status or the error of a request to the call history. */
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { MockCallHistoryLog } from './call-history-log.ts'

export class LoggingHandler extends ForwardingHandler {
  readonly #log: MockCallHistoryLog

  constructor(handler: DispatchHandler, log: MockCallHistoryLog) {
    super(handler)
    this.#log = log
  }

  override onResponseStart(...args: Parameters<ForwardingHandler['onResponseStart']>): void {
    const [, statusCode] = args
    if (statusCode >= 200) this.#log.statusCode = statusCode
    super.onResponseStart(...args)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.#log.error = error
    super.onResponseError(controller, error)
  }
}
