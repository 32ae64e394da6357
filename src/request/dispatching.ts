/** The one method on which everything that sends requests is built. */
import type { DispatchHandler } from './dispatch-handler.ts'
import type { DispatchOptions } from './dispatch-options.ts'

/** Anything that takes requests. */
export interface Dispatching {
  /** Queues a request; false when it is busy. */
  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean
}

/**
 * Whether these can be the arguments of `dispatch()`; what is wrong with others is for the dispatcher to say.
 */
export function isCall(options: unknown, handler: unknown): boolean {
  return typeof options === 'object' && options !== null && typeof handler === 'object' && handler !== null
}

/** A request that can be refused, once. */
export interface Refusable {
  refuse(error: unknown): void
}

/**
 * The requests that interceptors hold: no dispatcher has them, so a dispatcher that is destroyed refuses them
 * by this list.
 */
export interface HeldRequests {
  add(request: Refusable): unknown
  /** Whether or not it was added. */
  delete(request: Refusable): unknown
}

/**
 * The member of a dispatcher that has the requests held above it. A symbol: a composed view has it as well,
 * and no member of a caller's subclass replaces it.
 */
export const HELD: unique symbol = Symbol('requests that interceptors hold')

/**
 * What `dispatch()` has returned, where that is a boolean. A function of the caller may be asynchronous: a
 * promise that rejects refuses the request, and what it resolves with says nothing. Until then the request is
 * held.
 */
export function whenRefused(accepted: unknown, request: Refusable, held?: HeldRequests): boolean {
  if (typeof accepted !== 'object' || accepted === null) return accepted as boolean
  return whenAnswered(accepted, request, held) as unknown as boolean
}

function whenAnswered(answer: object, request: Refusable, held?: HeldRequests): Promise<boolean> {
  held?.add(request)
  const answered = (): boolean => {
    held?.delete(request)
    return true
  }
  const refused = (error: unknown): boolean => {
    request.refuse(error)
    return answered()
  }
  return Promise.resolve(answer).then(answered, refused)
}
