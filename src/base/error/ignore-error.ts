/**
 * The `error` listener of a stream whose failure is reported in another way. One function for all, so that it
 * can be distinguished from other listeners.
 */
export function ignoreError(): void {}

/** Ends a stream of the caller's, which may throw instead: the request has ended all the same. */
export function destroyQuietly(
  stream: { destroy?(error?: unknown): unknown } | null | undefined,
  error?: unknown,
): void {
  try {
    stream?.destroy?.(error)
  } catch {
    // It is of no use any more.
  }
}
