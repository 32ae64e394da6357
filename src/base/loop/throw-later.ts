/**
 * An exception of a caller's function, as an EventTarget treats one of its listeners: it must not stop what
 * is going on here, and it is not lost either.
 */
export function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
