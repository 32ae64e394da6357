/**
 * One deadline that is armed again and again. A connection has a few of these for all its requests. Arming it
 * for later than its timer runs only notes the time; a timer that fires too early is set again for the rest.
 * Disarming lets the timer run out without effect, `dispose` clears it.
 *
 * When time is up, the verdict waits for one turn of the event loop: after the process was blocked, timers
 * fire before the bytes that arrived meanwhile are read, and those bytes must not count as late.
 *
 * Timers are taken from the global object at each call, so that a fake clock controls them.
 */

import { now } from './clock.ts'
import { runtimeSetImmediate } from './runtime-turns.ts'
import { clearTimer, startTimer } from './timer.ts'

type Timer = ReturnType<typeof setTimeout>

/** Only its timers agree with `now()`; those of a fake clock are set again each time. */
const runtimeSetTimeout = globalThis.setTimeout

/** The runtime turns a longer delay into 1 ms. */
export const LONGEST_DELAY: number = 2 ** 31 - 1

/** An interface instead of a closure for each deadline: a connection or request has several. */
export interface DeadlineOwner {
  onDeadline(deadline: Deadline): void
  /** `onDeadline` threw. It runs directly under the runtime, where an exception would end the process. */
  onBroken(error: Error): void
}

export class Deadline {
  /** May change while the deadline is not armed: one whose timer still runs serves the next owner. */
  owner: DeadlineOwner | null
  #timer: Timer | null = null
  #isRuntimes = false
  /** When the timer fires. */
  #timerAt = 0
  #delay = 0
  /** When the wait began: time is up a delay later. */
  #armedAt = 0
  /** Changes with each arming and disarming; 0 = not armed. */
  #armed = 0
  #armings = 0

  constructor(owner: DeadlineOwner | null) {
    this.owner = owner
  }

  get armed(): boolean {
    return this.#armed !== 0
  }

  /** When the wait began, on the clock of `now()`. */
  get armedAt(): number {
    return this.#armedAt
  }

  /** Restarts with this many milliseconds; 0 disarms. `at` saves a look at the clock. */
  arm(delay: number, at: number = now()): void {
    if (delay === 0) {
      this.#armed = 0
      return
    }
    this.#armed = ++this.#armings
    this.#armedAt = at
    this.#delay = delay
    if (this.#timer !== null && this.#isRuntimes && this.#timerAt <= at + delay) return
    this.#clearTimer()
    this.#setTimer(delay, at)
  }

  #setTimer(delay: number, at: number): void {
    this.#isRuntimes = globalThis.setTimeout === runtimeSetTimeout
    this.#timerAt = at + delay
    this.#timer = startTimer(Deadline.#onTimer, Math.min(delay, LONGEST_DELAY), this)
    this.#timer.unref?.()
  }

  /** Restarts with the same delay, if it is armed. */
  refresh(): void {
    if (this.#armed !== 0) this.arm(this.#delay)
  }

  disarm(): void {
    this.#armed = 0
  }

  /** Disarms, and releases the timer. */
  dispose(): void {
    this.#armed = 0
    this.#clearTimer()
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimer(this.#timer)
    this.#timer = null
  }

  static #onTimer(deadline: Deadline): void {
    deadline.#timer = null
    const armed = deadline.#armed
    if (armed === 0) return
    if (deadline.#isRuntimes) {
      const at = now()
      const left = deadline.#armedAt + deadline.#delay - at
      if (left >= 1) {
        // Never longer than it was armed for, even if the clock was changed.
        deadline.#setTimer(Math.min(left, deadline.#delay), at)
        return
      }
    }
    runtimeSetImmediate(() => {
      if (deadline.#armed !== armed) return
      deadline.#armed = 0
      const { owner } = deadline
      try {
        owner?.onDeadline(deadline)
      } catch (error) {
        owner!.onBroken(error as Error)
      }
    })
  }
}
