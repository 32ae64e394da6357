/**
 * A clock that only moves when a test advances it. It replaces the global `setTimeout`, where the library gets its
 * timers. Unlike the mock timers of node:test, it supports `refresh()` and reports which timers are active.
 */
import type { TestContext } from 'node:test'

export class FakeTimer {
  readonly delay: number
  readonly #clock: FakeClock
  readonly #run: () => void
  due = 0
  referenced = true

  constructor(clock: FakeClock, delay: number, run: () => void) {
    this.#clock = clock
    this.delay = delay
    this.#run = run
    this.refresh()
  }

  ref(): this {
    this.referenced = true
    return this
  }

  unref(): this {
    this.referenced = false
    return this
  }

  hasRef(): boolean {
    return this.referenced
  }

  refresh(): this {
    this.due = this.#clock.now + this.delay
    this.#clock.active.add(this)
    return this
  }

  fire(): void {
    this.#clock.active.delete(this)
    this.#run()
  }
}

type Timers = Pick<typeof globalThis, 'setTimeout' | 'clearTimeout'>

function currentTimers(): Timers {
  const { setTimeout, clearTimeout } = globalThis
  return { setTimeout, clearTimeout }
}

/** Those of the clocks that tests have installed, and what was there before the first. */
const enabled: Timers[] = []
let realTimers = currentTimers()

export class FakeClock {
  now = 0
  readonly active = new Set<FakeTimer>()

  /** Replaces the global timers until the test ends. */
  static install(t: Pick<TestContext, 'after'>): FakeClock {
    const clock = new FakeClock()
    t.after(clock.enable())
    return clock
  }

  /** Returns a function that takes the clock away: the one before it goes on, or the real timers, in whatever order. */
  enable(): () => void {
    const clear = (timer: unknown): void => {
      if (timer instanceof FakeTimer) this.active.delete(timer)
      else realTimers.clearTimeout(timer as NodeJS.Timeout)
    }
    const timers = {
      setTimeout: ((run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) =>
        new FakeTimer(this, delay, () => run(...args))) as unknown as typeof setTimeout,
      clearTimeout: clear as typeof clearTimeout,
    }
    if (enabled.length === 0) realTimers = currentTimers()
    enabled.push(timers)
    Object.assign(globalThis, timers)
    return () => {
      const index = enabled.indexOf(timers)
      if (index < 0) return
      enabled.splice(index, 1)
      Object.assign(globalThis, enabled.at(-1) ?? realTimers)
    }
  }

  /** Advances, running each timer at its time; then lets the event loop turn, because deadlines wait for that. */
  async advance(milliseconds: number): Promise<void> {
    this.jump(milliseconds)
    await turns(2)
  }

  /** Advances without turning the event loop. */
  jump(milliseconds: number): void {
    const end = this.now + milliseconds
    for (let next = this.#next(end); next !== null; next = this.#next(end)) {
      this.now = next.due
      next.fire()
    }
    this.now = end
  }

  #next(end: number): FakeTimer | null {
    let next: FakeTimer | null = null
    for (const timer of this.active) if (timer.due <= end && timer.due < (next?.due ?? Infinity)) next = timer
    return next
  }
}

/** Everything the event loop has queued so far has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Lets the event loop turn. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn()
}

/** Saved before a test replaces it. */
const { setTimeout: realSetTimeout } = globalThis

/** Turns without a pause between them: enough for anything that happens within the process. */
const QUICK_TURNS = 1000

/** Turns of a millisecond: on a busy machine, other threads and the kernel need time that turns alone do not give. */
const SLOW_TURNS = 20_000

/** Lets the event loop turn until a condition holds. */
export async function eventually(holds: () => boolean, what = holds.toString()): Promise<void> {
  for (let i = 0; i < QUICK_TURNS + SLOW_TURNS; i++) {
    if (holds()) return
    if (i < QUICK_TURNS) await turns(1)
    else await new Promise((resolve) => realSetTimeout(resolve, 1))
  }
  throw new Error(`never became true: ${what}`)
}
