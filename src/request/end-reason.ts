/**
 * Why a connection, an exchange or a request ended, as one value. What follows from an end is decided by its
 * kind, in the table below, and never by the class, the code or the message of the error: that is for people.
 */
import type { RequestPhase, RetrySafety } from '../errors.ts'

export type EndKind =
  /** `destroy()` of the dispatcher, or the end of its `close()`. */
  | 'destroyed'
  /** The keep-alive time is over. */
  | 'idle'
  /** One side has announced that the connection is not used again. */
  | 'finished'
  /** The socket went to the caller of an upgrade. */
  | 'handed-over'
  /** The next request asks for another TLS server name. */
  | 'server-name'
  /** The caller gave a request up, or its handler threw. */
  | 'aborted'
  /** The request cannot be sent as it is. */
  | 'unsendable'
  /** The response is larger than `maxResponseSize`. */
  | 'oversized'
  /** The peer was too slow, or has gone silent. */
  | 'timeout'
  /** The peer has not allowed a single stream in time. */
  | 'no-stream'
  /** The peer has announced that it takes no more streams. */
  | 'goaway'
  /** As `goaway`, and it has named an error. */
  | 'goaway-error'
  /** The peer has provably not processed the request. */
  | 'unprocessed'
  /** The peer broke the protocol, or gave up a stream. */
  | 'protocol'
  /** The connection was closed or failed under the request. */
  | 'lost'
  /** ECONNRESET: as `lost`, but all that was sent before has arrived. */
  | 'torn-down'
  /** The socket was destroyed with an error that neither the system nor this library made, or TLS failed. */
  | 'foreign'
  /** Code of this library, or a Duplex of the caller, threw. */
  | 'broken'
  /** No connection came about. */
  | 'unreachable'
  /** There are as many connections as there may be. */
  | 'no-place'
  /** The connector asks for another attempt. */
  | 'try-again'
  /**
   * The certificate is for another name, or not trusted: this says nothing about requests for other server
   * names.
   */
  | 'wrong-name'

export interface EndReason {
  readonly kind: EndKind
  readonly error: Error
  /** The error is the caller's own value, which is passed on untouched. */
  readonly isCallers: boolean
  /** Of a connection that was not opened: the server name that the request asked for. */
  readonly servername?: string | null
}

interface EndRule {
  /**
   * The request that an HTTP/1.1 connection was working on fails with this error. Otherwise that request had
   * no part in the end: it is sent again if it can be.
   */
  readonly blames: boolean
  /** Requests without a response may be sent again on another connection. */
  readonly resends: boolean
  /** Requests that still wait fail as well, if nothing ran on the connection. */
  readonly failsWaiting: boolean
  /** How far a request had come; null: it knows by itself. */
  readonly phase: RequestPhase | null
  /** Whether the caller may send it again; null: the request knows by itself. */
  readonly retrySafety: RetrySafety | null
}

const FAILURE: EndRule = { blames: true, resends: true, failsWaiting: false, phase: null, retrySafety: null }
const HARMLESS: EndRule = { ...FAILURE, blames: false }

export const END_RULES: Readonly<Record<EndKind, EndRule>> = {
  destroyed: { ...FAILURE, resends: false },
  idle: HARMLESS,
  finished: HARMLESS,
  'handed-over': HARMLESS,
  'server-name': HARMLESS,
  aborted: { ...HARMLESS, retrySafety: 'no' },
  unsendable: { ...FAILURE, phase: 'sending', retrySafety: 'no' },
  oversized: { ...FAILURE, phase: 'body', retrySafety: 'no' },
  timeout: FAILURE,
  'no-stream': { ...FAILURE, failsWaiting: true },
  goaway: FAILURE,
  'goaway-error': FAILURE,
  unprocessed: { ...FAILURE, retrySafety: 'safe' },
  protocol: FAILURE,
  lost: FAILURE,
  'torn-down': FAILURE,
  foreign: { ...FAILURE, failsWaiting: true },
  broken: FAILURE,
  unreachable: { ...FAILURE, phase: 'connecting' },
  'no-place': { ...FAILURE, phase: 'connecting' },
  'try-again': { ...FAILURE, phase: 'connecting' },
  'wrong-name': { ...FAILURE, phase: 'connecting' },
}

/** An end with an error of the library or the runtime, to which each request adds its context. */
export function endReason(kind: EndKind, error: Error): EndReason {
  return { kind, error, isCallers: false }
}

/** An end with a value of the caller. */
export function callersReason(kind: EndKind, error: Error): EndReason {
  return { kind, error, isCallers: true }
}
