/**
 * Waits until the event loop has polled once more: by then all bytes that were in the kernel have been read.
 *
 * An immediate that is set while the loop handles the results of a poll runs before the next poll; one that
 * is set within an immediate runs after it. All waiters of one turn share the two.
 */
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
 * The `setImmediate` that the first immediate was set with, until it runs. If the global has been replaced
 * since, the old immediate may never run: tests install a fake clock, and remove it while its timers are
 * pending.
 */
let setWith: typeof setImmediate | null = null

/**
 * Returns the number of the poll. A waiter that awaits that poll already passes its number and is called
 * once.
 */
export function afterPoll(waiter: PollWaiter, awaited = 0): number {
  if (awaited !== next) {
    if (waiters === null) waiters = [waiter]
    else waiters.push(waiter)
  }
  const { setImmediate } = globalThis
  if (setWith !== setImmediate) {
    setWith = setImmediate
    setImmediate(beforePoll)
  }
  return next
}

function beforePoll(): void {
  // Empty when both the old immediate and its replacement run.
  const waiting = waiters ?? []
  waiters = null
  setWith = null
  globalThis.setImmediate(notify, waiting, next++)
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
