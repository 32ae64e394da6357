/**
 * One deadline that is armed again and again. A connection has a few of these for all its requests: arming it for
 * a later time than its timer runs to only notes that, and a timer that comes too early runs once more for the rest;
 * disarming leaves the timer to run out unheard, and `dispose` lets go of it.
 *
 * When time is up, the verdict waits for one turn of the event loop: after the process was blocked, timers
 * come before the bytes that arrived meanwhile, and what has arrived must not count as late.
 *
 * Timers are taken from the global object at each call, so that a fake clock sees them.
 */
import { now } from './clock.ts'

type Timer = ReturnType<typeof setTimeout>

/** Only its timers agree with `now()`: those of a fake clock are set anew each time. */
const runtimeSetTimeout = globalThis.setTimeout

/** The runtime turns a longer delay into 1 ms. */
const LONGEST_DELAY = 2 ** 31 - 1

/** Who is to know: one method instead of a function for each, because a connection or request has several. */
export interface DeadlineOwner {
  onDeadline(deadline: Deadline): void
  /** `onDeadline` threw. It is called by the runtime alone, which would end the process. */
  onBroken(error: Error): void
}

export class Deadline {
  /** May change while it is not armed: a deadline whose timer still runs serves the next one. */
  owner: DeadlineOwner | null
  #timer: Timer | null = null
  #isRuntimes = false
  /** When the timer comes. */
  #timerAt = 0
  #delay = 0
  /** When the wait began. */
  #since = 0
  /** When it last began anew: it is over a delay later. */
  #armedAt = 0
  /** Changes with each arming and disarming; 0 = not armed. */
  #armed = 0
  #armings = 0

  constructor(owner: DeadlineOwner) {
    this.owner = owner
  }

  get armed(): boolean {
    return this.#armed !== 0
  }

  /** Starts anew with this many milliseconds; 0 disarms. `at` is for those who know the time. */
  arm(delay: number, at: number = now()): void {
    if (delay === 0) {
      this.#armed = 0
      return
    }
    this.#armed = ++this.#armings
    this.#since = at
    this.#armedAt = at
    this.#delay = delay
    if (this.#timer !== null && this.#isRuntimes && this.#timerAt <= at + delay) return
    this.dispose()
    this.#armed = this.#armings
    this.#setTimer(delay, at)
  }

  #setTimer(delay: number, at: number): void {
    this.#isRuntimes = globalThis.setTimeout === runtimeSetTimeout
    this.#timerAt = at + delay
    this.#timer = globalThis.setTimeout(Deadline.#onTimer, Math.min(delay, LONGEST_DELAY), this)
    this.#timer.unref?.()
  }

  /** Starts anew with the delay it has, if it is armed. */
  refresh(): void {
    if (this.#armed !== 0) this.arm(this.#delay)
  }

  /** Begins anew if it is armed, but the whole wait since it was armed or refreshed is no longer than so many delays. */
  extend(times: number, at: number = now()): void {
    if (this.#armed === 0) return
    const since = this.#since
    const delay = this.#delay
    const left = Math.min(delay, since + times * delay - at)
    // Time that is up already is up a moment later, as for everybody else.
    this.arm(Math.max(left, 1), at)
    this.#since = since
    this.#delay = delay
    this.#armedAt = at + left - delay
  }

  disarm(): void {
    this.#armed = 0
  }

  dispose(): void {
    this.#armed = 0
    if (this.#timer !== null) globalThis.clearTimeout(this.#timer)
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
        // No longer than it was armed for, whatever has become of the clock.
        deadline.#setTimer(Math.min(left, deadline.#delay), at)
        return
      }
    }
    globalThis.setImmediate(() => {
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
