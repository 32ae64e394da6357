/**
 * Timers of the global object, so that a fake clock controls them. Each is cleared by the function that
 * belongs to the one that made it: a fake clock that was installed in between does not know it, and says so
 * with a warning each time.
 */

type Timer = ReturnType<typeof setTimeout>
type Clear = (timer: Timer) => void

/** A pair, whether or not a fake clock was installed before this module was loaded. */
const { setTimeout: firstSetTimeout, clearTimeout: firstClear, setInterval: firstSetInterval } = globalThis

/**
 * How to clear timers of other clocks. A timer that is a number cannot be here: the clock of the moment gets
 * it.
 */
const clears = new WeakMap<object, Clear>()

/** What the timers of the first clock inherit from. A caller hands over timers too, of whichever clock. */
let firstKind: unknown = null

export function startTimer<TArgs extends unknown[]>(
  run: (...args: TArgs) => void,
  delay: number,
  ...args: TArgs
): Timer {
  const set = globalThis.setTimeout
  return remember(set(run, delay, ...args), set === firstSetTimeout, globalThis.clearTimeout)
}

export function startInterval(run: () => void, delay: number): Timer {
  const set = globalThis.setInterval
  return remember(set(run, delay), set === firstSetInterval, globalThis.clearInterval)
}

function remember(timer: Timer, isFirst: boolean, clear: unknown): Timer {
  if (isFirst) firstKind ??= Object.getPrototypeOf(timer)
  else if (typeof timer === 'object' && timer !== null) clears.set(timer, clear as Clear)
  return timer
}

export function clearTimer(timer: Timer): void {
  const isObject = typeof timer === 'object' && timer !== null
  if (isObject && Object.getPrototypeOf(timer) === firstKind && !clears.has(timer)) firstClear(timer)
  else (clears.get(timer) ?? globalThis.clearTimeout)(timer)
}
