/** Handlers in tests often have only the methods that the test looks at. A mocked request accepts that. */
import { ForwardingHandler } from '../handler/forwarding-handler.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'

/** The methods that a `Request` checks for. */
const REQUIRED = [
  'onRequestStart',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
] as const

/** Has them all, and calls those that the handler has. */
class CompleteHandler extends ForwardingHandler {}

export function completeHandler(handler: DispatchHandler): DispatchHandler {
  return REQUIRED.every((name) => handler[name] !== undefined) ? handler : new CompleteHandler(handler)
}
