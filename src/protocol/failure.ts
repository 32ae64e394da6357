/**
 * What went wrong on a protocol level, as a value: engines hand these out instead of throwing, and
 * `connection/failure-to-error.ts` is the one place that turns them into public errors.
 */
export interface ProtocolFailure {
  readonly scope: 'stream' | 'connection'
  readonly blame: 'peer' | 'caller' | 'library'
  /** An HTTP/2 error code, or an `HPE_*` name for HTTP/1.1. */
  readonly code: number | string
  readonly message: string
}
