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

/** Something that a request can be refused to, once. */
export interface Refusable {
  refuse(error: unknown): void
}

/**
 * What `dispatch()` has returned, where that is a boolean. A function of the caller may be asynchronous: a promise that
 * rejects refuses the request, and what it resolves with says nothing.
 */
export function whenRefused(accepted: unknown, request: Refusable): boolean {
  if (typeof accepted !== 'object' || accepted === null) return accepted as boolean
  const refused = (error: unknown): boolean => {
    request.refuse(error)
    return true
  }
  return Promise.resolve(accepted).then(() => true, refused) as unknown as boolean
}
