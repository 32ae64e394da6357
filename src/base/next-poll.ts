/**
 * Waiting until the event loop has polled once more: by then all that was in the kernel has been read.
 *
 * An immediate that is set while the loop handles what a poll brought runs before the next poll; one that is set
 * from within an immediate runs after it. Everybody who waits in the same turn shares the two.
 */
export interface PollWaiter {
  onPolled(): void
}

let waiters: PollWaiter[] = []
/**
 * What the first immediate was set with, until it runs. Where somebody has put another `setImmediate` in its
 * place since, the old one may never run: tests replace the clock, and put it back with timers under way.
 */
let setWith: typeof setImmediate | null = null

export function afterNextPoll(waiter: PollWaiter): void {
  waiters.push(waiter)
  const { setImmediate } = globalThis
  if (setWith === setImmediate) return
  setWith = setImmediate
  setImmediate(beforePoll)
}

function beforePoll(): void {
  const waiting = waiters
  waiters = []
  setWith = null
  globalThis.setImmediate(afterPoll, waiting)
}

function afterPoll(waiting: readonly PollWaiter[]): void {
  let told = 0
  try {
    while (told < waiting.length) waiting[told++]!.onPolled()
  } finally {
    // One that throws must not keep the others waiting.
    if (told < waiting.length) globalThis.setImmediate(afterPoll, waiting.slice(told))
  }
}
