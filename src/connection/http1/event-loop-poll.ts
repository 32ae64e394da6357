/**
 * Waits until the event loop has polled once more: by then all bytes that were in the kernel have been read.
 *
 * An immediate that is set while the loop handles the results of a poll runs before the next poll; one that
 * is set within an immediate runs after it. All waiters of one turn share the two.
 */
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'

export interface PollWaiter {
  /** `poll` is the number that {@link afterPoll} returned. */
  onPolled(poll: number): void
  /** `onPolled` threw. It runs directly under the runtime, where an exception would end the process. */
  onBroken(error: Error): void
}

/** Created with its first element: a list that grows from empty reserves room for many. */
let waiters: PollWaiter[] | null = null
/** The poll that they wait for. */
let next = 1

/**
 * Returns the number of the poll. A waiter that awaits that poll already passes its number and is called
 * once.
 */
export function afterPoll(waiter: PollWaiter, awaited = 0): number {
  if (awaited === next) return next
  if (waiters === null) {
    waiters = [waiter]
    runtimeSetImmediate(beforePoll)
  } else {
    waiters.push(waiter)
  }
  return next
}

function beforePoll(): void {
  const waiting = waiters!
  waiters = null
  runtimeSetImmediate(notify, waiting, next++)
}

function notify(waiting: readonly PollWaiter[], poll: number): void {
  for (const waiter of waiting) {
    try {
      waiter.onPolled(poll)
    } catch (error) {
      waiter.onBroken(error as Error)
    }
  }
}
