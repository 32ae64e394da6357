/**
 * The errors that bodies of callers have failed with. Such an error may have any code: that of a missing
 * file, or of another connection. It says nothing about the server that the body was for.
 */
const errors = new WeakSet<object>()

export function noteBodyError(error: unknown): void {
  if (typeof error === 'object' && error !== null) errors.add(error)
}

export function isBodyError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && errors.has(error)
}
