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
  /** `turn` is the number that {@link afterTurn} returned. */
  onTurnEnd(turn: number): void
  /** `poll` is the number that {@link afterPoll} returned. */
  onPolled(poll: number): void
  /** One of these threw. They run directly under the runtime, where an exception would end the process. */
  onBroken(error: Error): void
}

/** Those who wait for the same moment of the event loop, which has a number. */
class Waiters {
  next = 1
  readonly #onFirst: () => void
  /** Created with its first element: a list that grows from empty reserves room for many. */
  #waiting: LoopWaiter[] | null = null

  /** @param onFirst Runs in an immediate that the first of them sets. */
  constructor(onFirst: () => void) {
    this.#onFirst = onFirst
  }

  /** Returns the number. One that awaits that moment already passes its number and is called once. */
  add(waiter: LoopWaiter, awaited: number): number {
    if (awaited === this.next) return awaited
    if (this.#waiting === null) {
      this.#waiting = [waiter]
      runtimeSetImmediate(this.#onFirst)
    } else {
      this.#waiting.push(waiter)
    }
    return this.next
  }

  /** From now on others wait, for the next moment. */
  take(): readonly LoopWaiter[] {
    const waiting = this.#waiting!
    this.#waiting = null
    this.next++
    return waiting
  }
}

function callAll(waiting: readonly LoopWaiter[], call: (waiter: LoopWaiter) => void): void {
  for (const waiter of waiting) {
    try {
      call(waiter)
    } catch (error) {
      waiter.onBroken(error as Error)
    }
  }
}

const poll = new Waiters(() => {
  const number = poll.next
  const waiting = poll.take()
  runtimeSetImmediate(() => callAll(waiting, (waiter) => waiter.onPolled(number)))
})

/** The waiter is called when the loop has polled once more. Returns the number of the poll. */
export function afterPoll(waiter: LoopWaiter, awaited = 0): number {
  return poll.add(waiter, awaited)
}

/** The count of polls when the last turn ended that somebody waited for. */
let polls = 0

const turn = new Waiters(() => {
  const number = turn.next
  const waiting = turn.take()
  polls = pollCount()
  callAll(waiting, (waiter) => waiter.onTurnEnd(number))
})

/**
 * The waiter is called when all events of the last poll have been handled. Returns the number of the turn.
 */
export function afterTurn(waiter: LoopWaiter, awaited = 0): number {
  return turn.add(waiter, awaited)
}

/**
 * Whether the loop has polled since the end of that turn. Events of the last poll may still wait to be
 * handled.
 */
export function hasPolledSince(since: number): boolean {
  // Between the ends of two turns the loop has polled.
  return turn.next > since + 1 || (turn.next === since + 1 && pollCount() > polls)
}

/**
 * How often the loop has polled. While it handles the events of a poll, and until the next one, it is the
 * same.
 */
export function pollCount(): number {
  // Runtimes that only resemble Node.js do not count; there the loop has never polled.
  return (performance.nodeTiming as Partial<typeof performance.nodeTiming>).uvMetricsInfo?.loopCount ?? 0
}
