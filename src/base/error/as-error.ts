/** Reasons that callers give: they may throw, or reject with, anything. */
import { loadUtil } from '../node/lazy-modules.ts'
import { messageOf } from './message-of.ts'

/** Also of another realm, where `instanceof` does not recognise it. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || loadUtil().types.isNativeError(value)
  } catch {
    // A Proxy whose prototype cannot be read.
    return false
  }
}

/** What is no error becomes the cause of one with this message. */
export function asError(reason: unknown, message: string): Error {
  return isError(reason) ? reason : new Error(message, { cause: reason })
}

/** For streams of the runtime, which read the stack of what they are destroyed with, whatever that is. */
export function withStack(reason: unknown): Error {
  try {
    void (reason as Error | null | undefined)?.stack
    return reason as Error
  } catch {
    return readableError(reason)
  }
}

/**
 * For subscribers, who read the message of what they get: an error with a message, whatever a caller gave. What
 * a subscriber throws ends the process.
 */
export function readableError(reason: unknown): Error {
  try {
    if (isError(reason) && typeof reason.message === 'string') return reason
  } catch {
    // Its message cannot be read.
  }
  return new Error(messageOf(reason), { cause: reason })
}
