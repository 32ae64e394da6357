/**
 * The one place where a protocol failure becomes a public error.
 */
import {
  HeadersOverflowError,
  HTTPParserError,
  ResponseContentLengthMismatchError,
  SocketError,
  type SocketInfo,
} from '../errors.ts'
import type { ProtocolFailure } from '../protocol/failure.ts'
import {
  BAD_INTERIM,
  BAD_UPGRADE,
  CONTENT_LENGTH_MISMATCH,
  EOF_BEFORE_HEAD,
  EOF_IN_BODY,
  HEADERS_OVERFLOW,
  TOO_MANY_INTERIM,
  UNSOLICITED,
} from '../protocol/http1/failures.ts'

/** `rest`: the bytes from the offending place on, for `HTTPParserError.data`. */
export function http1Error(failure: ProtocolFailure, rest: Buffer | null, socket: SocketInfo): Error {
  switch (failure.code) {
    case EOF_BEFORE_HEAD:
    case EOF_IN_BODY:
      return new SocketError('other side closed', socket)
    case UNSOLICITED:
    case BAD_INTERIM:
    case TOO_MANY_INTERIM:
      return new SocketError('bad response', socket, { cause: failure })
    case BAD_UPGRADE:
      return new SocketError('bad upgrade', socket, { cause: failure })
    case HEADERS_OVERFLOW:
      return new HeadersOverflowError(`Headers Overflow Error: ${failure.message}`)
    case CONTENT_LENGTH_MISMATCH:
      return new ResponseContentLengthMismatchError()
    default:
      return new HTTPParserError(
        `Response does not match the HTTP/1.1 protocol (${failure.message})`,
        String(failure.code).replace(/^HPE_/, ''),
        rest?.toString('latin1'),
      )
  }
}
