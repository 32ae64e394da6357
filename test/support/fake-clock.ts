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

export class FakeClock {
  now = 0
  readonly active = new Set<FakeTimer>()

  /** Replaces the global timers until the test ends. */
  static install(t: Pick<TestContext, 'after'>): FakeClock {
    const clock = new FakeClock()
    t.after(clock.enable())
    return clock
  }

  /** Returns a function that restores the real timers. */
  enable(): () => void {
    const { setTimeout: realSet, clearTimeout: realClear } = globalThis
    const set = (run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): FakeTimer =>
      new FakeTimer(this, delay, () => run(...args))
    const clear = (timer: unknown): void => {
      if (timer instanceof FakeTimer) this.active.delete(timer)
      else realClear(timer as NodeJS.Timeout)
    }
    globalThis.setTimeout = set as unknown as typeof setTimeout
    globalThis.clearTimeout = clear as typeof clearTimeout
    return () => {
      globalThis.setTimeout = realSet
      globalThis.clearTimeout = realClear
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
