/** Which errors mean that the origin could not answer: a stale response may answer instead (RFC 5861 §4). An open circuit is one. */

/** The caller's own mistakes and decisions. */
const OF_THE_CALLER: ReadonlySet<unknown> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_ABORTED',
  'UND_ERR_ABORT',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
])

export function isOriginFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name !== 'AbortError' && !OF_THE_CALLER.has((error as { code?: unknown }).code)
}
