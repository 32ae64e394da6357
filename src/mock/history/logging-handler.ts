/** Adds status or error to the call history for a request that was sent to the network. */
import { DecoratorHandler } from '../../handler/decorator-handler.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { MockCallHistoryLog } from './call-history-log.ts'

export class LoggingHandler extends DecoratorHandler {
  readonly #log: MockCallHistoryLog

  constructor(handler: DispatchHandler, log: MockCallHistoryLog) {
    super(handler)
    this.#log = log
  }

  override onResponseStart(...args: Parameters<DecoratorHandler['onResponseStart']>): void {
    const [, statusCode] = args
    if (statusCode >= 200) this.#log.statusCode = statusCode
    super.onResponseStart(...args)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.#log.error = error
    super.onResponseError(controller, error)
  }
}
