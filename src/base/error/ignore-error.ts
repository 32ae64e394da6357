/**
 * The `error` listener of a stream whose failure is reported in another way. One function for all, so that it
 * can be distinguished from other listeners.
 */
export function ignoreError(): void {}
