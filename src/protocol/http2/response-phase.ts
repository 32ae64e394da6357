/**
 * Where a response is (RFC 9113 §8.1, §8.5): heads, then content, then trailers. Independent of the stream
 * state, which only knows that frames may come. Pure data.
 */

export const AWAITING_HEAD = 0
export const IN_CONTENT = 1
/** After a 2xx to CONNECT: DATA is the tunnel's bytes, no header block may follow. */
export const IN_TUNNEL = 2
export const COMPLETE = 3

export type ResponsePhase = 0 | 1 | 2 | 3

export const INTERIM_HEAD = 0
export const FINAL_HEAD = 1
export const TUNNEL_HEAD = 2
/** A header block after the final head, with END_STREAM. */
export const TRAILERS = 3
/** A header block after the final head, without END_STREAM. */
export const STRAY_HEADERS = 4
export const CONTENT = 5
export const END = 6

export type ResponseInput = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** The response is malformed (RFC 9113 §8.1.1). */
export const MALFORMED = 0x10

export type ResponseOutcome = ResponsePhase | 0x10

const X = MALFORMED

/** [phase][input] → next phase, or MALFORMED. */
export const RESPONSE_TRANSITIONS: readonly (readonly ResponseOutcome[])[] = [
  // INTERIM_HEAD, FINAL_HEAD, TUNNEL_HEAD, TRAILERS, STRAY_HEADERS, CONTENT, END
  /* AWAITING_HEAD */ [AWAITING_HEAD, IN_CONTENT, IN_TUNNEL, X, X, X, X],
  /* IN_CONTENT    */ [X, X, X, COMPLETE, X, IN_CONTENT, COMPLETE],
  /* IN_TUNNEL     */ [X, X, X, X, X, IN_TUNNEL, COMPLETE],
  /* COMPLETE      */ [X, X, X, X, X, X, X],
]

export function advanceResponse(phase: ResponsePhase, input: ResponseInput): ResponseOutcome {
  return RESPONSE_TRANSITIONS[phase]![input]!
}
