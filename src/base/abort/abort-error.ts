/** The error for an abort without a reason. */

/**
 * The reason, or the standard's error. `AbortSignal` always has a reason; a signal of another class, the
 * event of one that is not aborted, and `cancel()` without an argument have none.
 */
export function orAbortError(reason: unknown): unknown {
  return reason === undefined ? new DOMException('The operation was aborted.', 'AbortError') : reason
}
