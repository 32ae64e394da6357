/**
 * Owns the clock of one connect. When time is up it lets the event loop poll once more before it decides:
 * after a blocked loop timers run first, and a result that already waits in the loop must win. Timers come
 * from the global object at call time, so that fake clocks control them, and do not keep the process alive;
 * those of a fake clock may have no `unref`.
 */
import { clearTimer, startTimer } from '../base/loop/timer.ts'

/** The connect that has the time limit. */
export interface TimeoutTarget {
  onConnectTimeout(): void
}

/**
 * Starts the clock; returns a function that stops it. The target is held weakly, so that the timeout does not
 * keep an unreachable connect in memory; `onLost` replaces a target that is gone.
 */
export function startConnectTimeout(
  milliseconds: number,
  target: TimeoutTarget,
  onLost: () => void,
): () => void {
  if (!milliseconds) return () => {}
  const clock = { target: new WeakRef(target), onLost, stopped: false }
  const timer = startTimer(waitOneTurn, milliseconds, clock)
  timer.unref?.()
  return () => {
    clock.stopped = true
    clearTimer(timer)
  }
}

interface Clock {
  readonly target: WeakRef<TimeoutTarget>
  readonly onLost: () => void
  stopped: boolean
}

function waitOneTurn(clock: Clock): void {
  // On Windows a finished connect is reported one turn later than elsewhere.
  if (process.platform === 'win32') globalThis.setImmediate(() => globalThis.setImmediate(judge, clock))
  else globalThis.setImmediate(judge, clock)
}

function judge(clock: Clock): void {
  if (clock.stopped) return
  const target = clock.target.deref()
  if (target === undefined) clock.onLost()
  else target.onConnectTimeout()
}
