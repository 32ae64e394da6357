/**
 * The ways in which connections and exchanges end, each with its public error. What a peer did wrong is
 * turned into an error by `failure-to-error.ts`.
 */
import {
  BodyTimeoutError,
  HeadersTimeoutError,
  InformationalError,
  SocketError,
  type SocketInfo,
} from '../errors.ts'
import type { ProtocolFailure } from '../protocol/failure.ts'
import { NO_ERROR } from '../protocol/http2/constants.ts'
import { type EndKind, type EndReason, endReason } from '../request/end-reason.ts'
import { socketEnd } from '../request/foreign-error.ts'
import { goawayError } from './failure-to-error.ts'

/** An end that is nobody's fault. */
export function informational(kind: EndKind, message: string): EndReason {
  return endReason(kind, new InformationalError(message))
}

export function idleTimeout(): EndReason {
  return usual('idle', 'socket idle timeout')
}

export function finished(): EndReason {
  return usual('finished', 'reset')
}

/**
 * Most connections end this way. Taking a stack, which names no code of the caller, would take a large part
 * of the time that closing one takes.
 */
function usual(kind: EndKind, message: string): EndReason {
  const { stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 0
    return informational(kind, message)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * An idle connection ended or was written to by the peer, and a request was written before that was noticed.
 */
export function unasked(socket: SocketInfo): EndReason {
  return endReason('finished', new SocketError('other side closed or wrote before the request', socket))
}

/** `message`: HTTP/2 names the timeout, HTTP/1.1 has the default. */
export function headLate(message?: string): EndReason {
  return endReason('timeout', new HeadersTimeoutError(message))
}

export function bodyLate(message?: string): EndReason {
  return endReason('timeout', new BodyTimeoutError(message))
}

export function noStream(timeout: number): EndReason {
  const message = `HTTP/2: server did not accept a new stream within ${timeout}`
  return endReason('no-stream', new HeadersTimeoutError(message))
}

export function goaway(code: number, debug: Uint8Array, socket: SocketInfo): EndReason {
  return endReason(code === NO_ERROR ? 'goaway' : 'goaway-error', goawayError(code, debug, socket))
}

export function peerClosed(socket: SocketInfo, cause?: ProtocolFailure): EndReason {
  return endReason(
    'lost',
    new SocketError('other side closed', socket, cause === undefined ? undefined : { cause }),
  )
}

/** The connection has ended for a reason that a request on it had no part in. */
export function closedUnder({ error }: EndReason, socket: SocketInfo): EndReason {
  return endReason('lost', new SocketError('closed', socket, { cause: error }))
}

/** The transport has closed by itself; `error` is null for an orderly end. */
export function transportClosed(error: Error | null, socket: SocketInfo): EndReason {
  return error === null
    ? endReason('lost', new SocketError('closed', socket))
    : endReason(socketEnd(error), error)
}
