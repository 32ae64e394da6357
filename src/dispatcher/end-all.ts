/**
 * Closing or destroying several dispatchers, of which some may be the caller's: one that throws, or that
 * calls back twice, must neither keep the others from being waited for nor end the wait early.
 */
import { isThenable } from '../base/loop/thenable.ts'
import type { EndReason } from '../request/end-reason.ts'
import type { Dispatcher } from './dispatcher.ts'

export function closeAll(dispatchers: readonly Dispatcher[], done: () => void): void {
  endAll(dispatchers, (dispatcher, ended) => dispatcher.close(ended), done)
}

/** With the caller's error, or each with its own. */
export function destroyAll(dispatchers: readonly Dispatcher[], reason: EndReason, done: () => void): void {
  const error = reason.isCallers ? reason.error : null
  endAll(dispatchers, (dispatcher, ended) => dispatcher.destroy(error, ended), done)
}

/** Those of a caller need not have such a method. */
export function retireAll(dispatchers: readonly Dispatcher[]): void {
  for (const dispatcher of dispatchers) {
    try {
      const { retire } = dispatcher as { retire?: unknown }
      if (typeof retire === 'function') retire.call(dispatcher)
    } catch {
      // It must not keep the others.
    }
  }
}

export function endAll<T>(
  dispatchers: readonly T[],
  end: (dispatcher: T, ended: () => void) => unknown,
  done: () => void,
): void {
  const left = new Set(dispatchers)
  if (left.size === 0) queueMicrotask(done)
  const ended = (dispatcher: T): void => {
    if (left.delete(dispatcher) && left.size === 0) done()
  }
  for (const dispatcher of dispatchers) {
    try {
      const promise = end(dispatcher, () => ended(dispatcher))
      // Those of a caller may answer with a promise alone.
      if (!isThenable(promise)) continue
      Promise.resolve(promise).then(
        () => ended(dispatcher),
        () => ended(dispatcher),
      )
    } catch {
      // A dispatcher that throws is not waited for.
      ended(dispatcher)
    }
  }
}
