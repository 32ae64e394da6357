/**
 * The `error` listener of a stream whose failure is reported in another way. One function for all, so that it
 * can be distinguished from other listeners.
 */
export function ignoreError(): void {}

/** Ends a stream or socket, which may be the caller's and throw instead: nothing depends on it any more. */
export function destroyQuietly(
  stream: { destroy?(error?: unknown): unknown } | null | undefined,
  error?: unknown,
): void {
  try {
    destroyFor(error, (reason) => stream?.destroy?.(reason ?? undefined))
  } catch {
    // It is of no use any more.
  }
}

/**
 * A stream reads the `stack` of what destroys it. Where a value of the caller throws then, the stream is
 * destroyed with an error that can be read: it would stay open.
 */
export function destroyFor<T>(error: T, destroy: (error: T | Error) => void): void {
  try {
    destroy(error)
  } catch (thrown) {
    if (error === null || error === undefined) throw thrown
    destroy(new Error('The reason cannot be read', { cause: error }))
  }
}
