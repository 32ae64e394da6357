/** The one method on which everything that sends requests is built. */
import type { DispatchHandler } from './dispatch-handler.ts'
import type { DispatchOptions } from './dispatch-options.ts'

/** Anything that takes requests. */
export interface Dispatching {
  /** Queues a request; false when it is busy. */
  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean
}

/** Whether these can be the arguments of `dispatch()`; what is wrong with others is for the dispatcher to say. */
export function isCall(options: unknown, handler: unknown): boolean {
  return typeof options === 'object' && options !== null && typeof handler === 'object' && handler !== null
}
