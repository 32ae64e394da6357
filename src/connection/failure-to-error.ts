/**
 * The one place where a protocol failure becomes a public error.
 */
import {
  HeadersOverflowError,
  HTTPParserError,
  InformationalError,
  ResponseContentLengthMismatchError,
  SocketError,
  type SocketInfo,
} from '../errors.ts'
import type { ProtocolFailure } from '../protocol/failure.ts'
import {
  BAD_UPGRADE,
  CONTENT_LENGTH_MISMATCH,
  EOF_BEFORE_HEAD,
  EOF_IN_BODY,
  HEADERS_OVERFLOW,
  TOO_MANY_INTERIM,
  UNSOLICITED,
} from '../protocol/http1/failures.ts'
import {
  CANCEL,
  errorCodeName,
  HEADERS_TOO_LARGE,
  LENGTH_MISMATCH,
  NO_ERROR,
} from '../protocol/http2/constants.ts'

/** `rest`: the bytes from the offending place on, for `HTTPParserError.data`. */
export function http1Error(failure: ProtocolFailure, rest: Buffer | null, socket: SocketInfo): Error {
  switch (failure.code) {
    case EOF_BEFORE_HEAD:
    case EOF_IN_BODY:
      return new SocketError('other side closed', socket)
    case UNSOLICITED:
    case TOO_MANY_INTERIM:
      return new SocketError('bad response', socket, { cause: failure })
    case BAD_UPGRADE:
      return new SocketError('bad upgrade', socket, { cause: failure })
    case HEADERS_OVERFLOW:
      return new HeadersOverflowError(undefined, { cause: failure })
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

/** A stream that ended badly while its connection lives on. `awaitsTunnel`: it was to become one. */
export function http2StreamError(failure: ProtocolFailure, awaitsTunnel: boolean): Error {
  const { code, message } = failure
  const options = { cause: failure }
  if (code === HEADERS_TOO_LARGE) return new HeadersOverflowError(undefined, options)
  if (code === LENGTH_MISMATCH) return new ResponseContentLengthMismatchError(undefined, options)
  if (typeof code !== 'number') return new InformationalError(`HTTP/2: ${message}`, options)
  if (failure.blame === 'peer' && code === NO_ERROR) {
    return new InformationalError('HTTP/2: stream half-closed (remote)', options)
  }
  if (failure.blame === 'peer' && code === CANCEL) {
    const before = awaitsTunnel ? 'response headers' : 'the response was complete'
    return new InformationalError(`HTTP/2: stream closed before ${before}`, options)
  }
  const error = awaitsTunnel
    ? new InformationalError(`HTTP/2: "stream error" received - code ${code}`, options)
    : Object.assign(new Error(`Stream closed with error code NGHTTP2_${errorCodeName(code)}`, options), {
        code: 'ERR_HTTP2_STREAM_ERROR',
      })
  return Object.assign(error, { http2ErrorCode: code })
}

/** A connection that the peer or we gave up because of what the peer sent. */
export function http2ConnectionError(failure: ProtocolFailure, socket: SocketInfo): Error {
  return typeof failure.code === 'number'
    ? new SocketError(`HTTP/2: ${failure.message}`, socket, { cause: failure })
    : new InformationalError(`HTTP/2: ${failure.message}`, { cause: failure })
}

export function goawayError(code: number, debug: Uint8Array, socket: SocketInfo): Error {
  const message = `HTTP/2: "GOAWAY" frame received with code ${code}`
  if (code === NO_ERROR) return new InformationalError(message)
  return new SocketError(message, socket, { cause: { code, message: words(debug) } })
}

/** The debug data of a GOAWAY as printable ASCII. */
function words(debug: Uint8Array): string {
  return Buffer.from(debug)
    .toString('latin1')
    .replace(/[^\x20-\x7e]/g, '?')
}
