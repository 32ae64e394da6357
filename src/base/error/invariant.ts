/**
 * A check on our own logic. It must never depend on bytes from a peer or on values from a caller: those get
 * a `ProtocolFailure` or an `InvalidArgumentError`.
 */
export class InternalError extends Error {
  override readonly name = 'InternalError'
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InternalError(message)
}
