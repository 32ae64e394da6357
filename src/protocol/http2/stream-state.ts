/**
 * RFC 9113 §5.1 for a client that takes no pushes: stream states, inputs, and the table between them. A
 * closed state says why it is closed, because that decides what a late frame means. Pure data.
 */

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

export const SEND_HEADERS = 0
export const SEND_END = 1
export const SEND_RST = 2
export const RECV_HEADERS = 3
export const RECV_DATA = 4
export const RECV_END = 5
export const RECV_RST = 6
export const RECV_WINDOW_UPDATE = 7

export type StreamInput = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/** Nothing happens. For DATA that means: the connection's window is given back; for HEADERS: decode and drop. */
export const IGNORED = 0x10
/** RST_STREAM(STREAM_CLOSED). */
export const STREAM_FAULT_CLOSED = 0x11
/** GOAWAY(STREAM_CLOSED). */
export const CONNECTION_FAULT_CLOSED = 0x12
/** GOAWAY(PROTOCOL_ERROR): a frame on a stream that nobody has opened. */
export const CONNECTION_FAULT_IDLE = 0x13
/** Our own code did what it must not. */
export const MISUSE = 0x14

export type StreamOutcome = StreamState | 0x10 | 0x11 | 0x12 | 0x13 | 0x14

const I = IGNORED
const S = STREAM_FAULT_CLOSED
const C = CONNECTION_FAULT_CLOSED
const P = CONNECTION_FAULT_IDLE
const M = MISUSE

/** [state][input] → next state or what to do about it. */
export const STREAM_TRANSITIONS: readonly (readonly StreamOutcome[])[] = [
  // SEND_HEADERS, SEND_END, SEND_RST, RECV_HEADERS, RECV_DATA, RECV_END, RECV_RST, RECV_WINDOW_UPDATE
  /* IDLE                 */ [OPEN, M, M, P, P, P, P, P],
  /* OPEN                 */ [
    OPEN,
    HALF_CLOSED_LOCAL,
    CLOSED_RESET_BY_US,
    OPEN,
    OPEN,
    HALF_CLOSED_REMOTE,
    CLOSED_RESET_BY_PEER,
    OPEN,
  ],
  /* HALF_CLOSED_LOCAL    */ [
    M,
    M,
    CLOSED_RESET_BY_US,
    HALF_CLOSED_LOCAL,
    HALF_CLOSED_LOCAL,
    CLOSED_ENDED,
    CLOSED_RESET_BY_PEER,
    HALF_CLOSED_LOCAL,
  ],
  /* HALF_CLOSED_REMOTE   */ [
    HALF_CLOSED_REMOTE,
    CLOSED_ENDED,
    CLOSED_RESET_BY_US,
    S,
    S,
    S,
    CLOSED_RESET_BY_PEER,
    HALF_CLOSED_REMOTE,
  ],
  /* CLOSED_ENDED         */ [M, M, I, C, C, C, I, I],
  // RST_STREAM and WINDOW_UPDATE may have been on their way; a reset is never answered with a reset.
  /* CLOSED_RESET_BY_PEER */ [M, M, I, S, S, S, I, I],
  /* CLOSED_RESET_BY_US   */ [M, M, I, I, I, I, I, I],
]

export function advance(state: StreamState, input: StreamInput): StreamOutcome {
  return STREAM_TRANSITIONS[state]![input]!
}

/** Whether an outcome is a state rather than a fault or nothing. */
export function isState(outcome: StreamOutcome): outcome is StreamState {
  return outcome < IGNORED
}

export function isClosed(state: StreamState): boolean {
  return state >= CLOSED_ENDED
}
