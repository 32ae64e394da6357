/** The events of the dispatchers that a dispatcher is made of, as its own. */
import type { Dispatcher } from './dispatcher.ts'

const REEMITTED = ['connect', 'disconnect', 'connectionError', 'drain'] as const

/**
 * The dispatchers that an event has come through are named in it, the outermost first.
 *
 * @param takesPlace Whether `outer` is named instead of `inner`, not before it.
 */
export function reemit(outer: Dispatcher, inner: Dispatcher, takesPlace = false): void {
  if (!reemitConnections(outer, inner, takesPlace)) return
  inner.on('error', (error: unknown) => outer.emit('error', error))
  inner.on('ping', (milliseconds: number) => outer.emit('ping', milliseconds))
}

/** False for a dispatcher of another library that has no events. */
export function reemitConnections(outer: Dispatcher, inner: Dispatcher, takesPlace = false): boolean {
  if (typeof (inner as Partial<Dispatcher>).on !== 'function') return false
  for (const event of REEMITTED) {
    inner.on(event, (url: URL, targets: readonly unknown[] = [], ...rest: unknown[]) => {
      outer.emit(event, url, [outer, ...(takesPlace ? targets.slice(1) : targets)], ...rest)
    })
  }
  return true
}
