/**
 * Which numbers a close frame may carry (RFC 6455 §7.4), and those this side sends when the peer is wrong.
 */

export const NORMAL = 1000
export const PROTOCOL_ERROR = 1002
export const NO_STATUS = 1005
export const ABNORMAL = 1006
export const INVALID_DATA = 1007
export const POLICY_VIOLATION = 1008
export const TOO_BIG = 1009
export const INTERNAL = 1011

/** 1015 and up to 2999 are not assigned, or must not be on the wire. */
const LAST_ASSIGNED = 1014

/** 1004 is reserved; 1005 and 1006 only mean that there was no code. */
export function isReceivable(code: number): boolean {
  if (code >= NORMAL && code <= LAST_ASSIGNED) return code < 1004 || code > ABNORMAL
  return isPrivate(code)
}

/** What an application may close with (WHATWG WebSockets, `close()`). */
export function isSendable(code: number): boolean {
  return code === NORMAL || isPrivate(code)
}

function isPrivate(code: number): boolean {
  return code >= 3000 && code <= 4999
}
