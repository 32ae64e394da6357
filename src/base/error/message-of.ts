/**
 * What a reason says in words. Callers abort, reject and throw with anything, and reading that must not throw.
 */
export function messageOf(reason: unknown): string {
  try {
    const { message } = Object(reason) as { message?: unknown }
    return typeof message === 'string' && message !== '' ? message : String(reason)
  } catch {
    return 'unknown error'
  }
}
