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
    stream?.destroy?.(error ?? undefined)
  } catch {
    // It is of no use any more.
  }
}
