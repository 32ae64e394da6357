/** Calls that an interceptor does not send on. */
import { destroyBodyOf } from '../request/body-source.ts'
import { checkHandler, type DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'

/** False for a handler that lacks a method: the dispatcher reports the error. */
export function isComplete(handler: DispatchHandler): boolean {
  try {
    checkHandler(handler, false)
    return true
  } catch {
    return false
  }
}

/**
 * As a dispatcher does with a call that is wrong: its body is destroyed, and its handler gets the error. A
 * call may come from a timer or from a handler of another request, where nothing catches.
 */
export function refuse(opts: DispatchOptions, handler: DispatchHandler, error: unknown): false {
  if (typeof handler?.onResponseError !== 'function') throw error
  destroyBodyOf(opts, error)
  handler.onResponseError(null, error as Error)
  return false
}
