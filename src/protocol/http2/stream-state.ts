/**
 * RFC 9113 §5.1 for a client that takes no pushes: stream states, inputs, and the table between them. A
 * closed state includes the reason, because that decides what a late frame means. States change by this table
 * alone: `Stream.advance` for the live ones, `StreamSet.advanceAbsent` for those that are gone.
 */
import { InternalError } from '../../base/error/invariant.ts'

export const IDLE = 0
export const OPEN = 1
/** We have sent END_STREAM. */
export const HALF_CLOSED_LOCAL = 2
/** The peer has sent END_STREAM. */
export const HALF_CLOSED_REMOTE = 3
/** Both have. */
export const CLOSED_ENDED = 4
export const CLOSED_RESET_BY_PEER = 5
/** Also for streams that a GOAWAY refused, and for ids too old to be remembered. */
export const CLOSED_RESET_BY_US = 6

export type StreamState = 0 | 1 | 2 | 3 | 4 | 5 | 6

// Inputs. Frames of the peer may be refused; our own actions must be allowed.
export const SEND_HEADERS = 0
export const SEND_END = 1
/** We give the stream up: with RST_STREAM, or silently where the connection ends or a GOAWAY refused it. */
export const RESET_BY_US = 2
export const RECV_HEADERS = 3
export const RECV_DATA = 4
/** The END_STREAM flag of HEADERS or DATA, which have been admitted before. */
export const RECV_END = 5
export const RECV_RST = 6
export const RECV_WINDOW_UPDATE = 7

export type StreamInput = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/**
 * Nothing happens. For DATA that means: the connection's window is given back; for HEADERS: decode and drop.
 */
export const IGNORED = 0x10
/** RST_STREAM(STREAM_CLOSED). */
export const STREAM_FAULT_CLOSED = 0x11
/** GOAWAY(STREAM_CLOSED). */
export const CONNECTION_FAULT_CLOSED = 0x12
/** GOAWAY(PROTOCOL_ERROR): a frame on a stream that was never opened. */
export const CONNECTION_FAULT_IDLE = 0x13
/** A mistake of our own. */
export const MISUSE = 0x14

export type StreamOutcome = StreamState | 0x10 | 0x11 | 0x12 | 0x13 | 0x14

const HCL = HALF_CLOSED_LOCAL
const HCR = HALF_CLOSED_REMOTE
const END = CLOSED_ENDED
const PEER = CLOSED_RESET_BY_PEER
const US = CLOSED_RESET_BY_US
const I = IGNORED
const S = STREAM_FAULT_CLOSED
const C = CONNECTION_FAULT_CLOSED
const P = CONNECTION_FAULT_IDLE
const M = MISUSE

/** [state][input] → next state or what to do about it. */
export const STREAM_TRANSITIONS: readonly (readonly StreamOutcome[])[] = [
  // SEND_HEADERS, SEND_END, RESET_BY_US, RECV_HEADERS, RECV_DATA, RECV_END, RECV_RST, RECV_WINDOW_UPDATE
  /* IDLE                 */ [OPEN, M, M, P, P, M, P, P],
  /* OPEN                 */ [OPEN, HCL, US, OPEN, OPEN, HCR, PEER, OPEN],
  /* HALF_CLOSED_LOCAL    */ [M, M, US, HCL, HCL, END, PEER, HCL],
  /* HALF_CLOSED_REMOTE   */ [HCR, END, US, S, S, M, PEER, HCR],
  // RST_STREAM and WINDOW_UPDATE may have been under way when the stream closed; a reset is never answered
  // with a reset. After the reset that answers another frame, the peer's late frames are ignored.
  /* CLOSED_ENDED         */ [M, M, US, C, C, M, I, I],
  /* CLOSED_RESET_BY_PEER */ [M, M, US, S, S, M, I, I],
  /* CLOSED_RESET_BY_US   */ [M, M, US, I, I, M, I, I],
]

/** The next state, or the peer's fault. Throws for a mistake of our own. */
export function nextState(state: StreamState, input: StreamInput): StreamOutcome {
  const outcome = STREAM_TRANSITIONS[state]![input]!
  if (outcome === MISUSE) throw new InternalError(`stream state ${state} has no input ${input}`)
  return outcome
}

/** Whether an outcome is a state rather than a fault or nothing. */
export function isState(outcome: StreamOutcome): outcome is StreamState {
  return outcome < IGNORED
}

export function isClosed(state: StreamState): boolean {
  return state >= CLOSED_ENDED
}
