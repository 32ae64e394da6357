/**
 * Waiting until the event loop has polled once more: by then all that was in the kernel has been read.
 *
 * An immediate that is set while the loop handles what a poll brought runs before the next poll; one that is set
 * from within an immediate runs after it. Everybody who waits in the same turn shares the two.
 */
export interface PollWaiter {
  /** `poll` is what {@link afterNextPoll} returned. */
  onPolled(poll: number): void
  /** `onPolled` threw. It is called by the runtime alone, which would end the process. */
  onBroken(error: Error): void
}

const NOBODY: readonly PollWaiter[] = []

/** Made with the first of them: a list that begins empty takes room for many when it gets one. */
let waiters: PollWaiter[] | null = null
/** The poll that those wait for. */
let next = 1
/**
 * What the first immediate was set with, until it runs. Where somebody has put another `setImmediate` in its
 * place since, the old one may never run: tests replace the clock, and put it back with timers under way.
 */
let setWith: typeof setImmediate | null = null

/** Returns the number of the poll. Whoever waits for that one already says so, and is told once. */
export function afterNextPoll(waiter: PollWaiter, awaited = 0): number {
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
  const waiting = waiters ?? NOBODY
  waiters = null
  setWith = null
  globalThis.setImmediate(afterPoll, waiting, next++)
}

function afterPoll(waiting: readonly PollWaiter[], poll: number): void {
  for (const waiter of waiting) {
    try {
      waiter.onPolled(poll)
    } catch (error) {
      waiter.onBroken(error as Error)
    }
  }
}
