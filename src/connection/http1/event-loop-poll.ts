/**
 * What the event loop has seen. Bytes and FINs wait in the kernel until the loop polls; the poll returns a
 * list of events, which are handled one after another. When immediates run, all events of the last poll have
 * been handled.
 *
 * An immediate that is set while the loop handles the results of a poll runs before the next poll; one that
 * is set within an immediate runs after it. All waiters of one turn share them.
 */
import { performance } from 'node:perf_hooks'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'

export interface LoopWaiter {
  /** `turn` is the number that {@link afterTurn} returned. Returns whether `onPolled` shall follow. */
  onTurnEnd(turn: number): boolean
  /** The loop has polled since the end of that turn, and handled the events. */
  onPolled(turn: number): void
  /** One of these threw. They run directly under the runtime, where an exception would end the process. */
  onBroken(error: Error): void
}

/** Created with its first element: a list that grows from empty reserves room for many. */
let waiters: LoopWaiter[] | null = null
/** The turn whose end they wait for. */
let next = 1

/**
 * The waiter is called when all events of the last poll have been handled. Returns the number of the turn. A
 * waiter that awaits its end already passes it and is called once.
 */
export function afterTurn(waiter: LoopWaiter, awaited = 0): number {
  if (awaited === next) return next
  if (waiters === null) {
    waiters = [waiter]
    runtimeSetImmediate(endTurn)
  } else {
    waiters.push(waiter)
  }
  return next
}

function endTurn(): void {
  const waiting = waiters!
  waiters = null
  const turn = next++
  let polling = 0
  for (const waiter of waiting) {
    try {
      // Those that go on waiting move to the front.
      if (waiter.onTurnEnd(turn)) waiting[polling++] = waiter
    } catch (error) {
      waiter.onBroken(error as Error)
    }
  }
  waiting.length = polling
  if (polling > 0) runtimeSetImmediate(endPoll, waiting, turn)
}

function endPoll(waiting: readonly LoopWaiter[], turn: number): void {
  for (const waiter of waiting) {
    try {
      waiter.onPolled(turn)
    } catch (error) {
      waiter.onBroken(error as Error)
    }
  }
}

/**
 * How often the loop has polled. While it handles the events of a poll, and until the next one, it is the
 * same.
 */
export function pollCount(): number {
  // Runtimes that only resemble Node.js do not count; there the loop has never polled.
  return (performance.nodeTiming as Partial<typeof performance.nodeTiming>).uvMetricsInfo?.loopCount ?? 0
}
