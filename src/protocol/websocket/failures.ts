/**
 * Everything a server can do wrong after the handshake: the close code that answers it (RFC 6455 §7.4.1) and
 * the words that go with it. The reasons for exceeded limits are part of the interface.
 */
import type { ProtocolFailure } from '../failure.ts'
import { INVALID_DATA, POLICY_VIOLATION, PROTOCOL_ERROR, TOO_BIG } from './close-code.ts'

export interface WebSocketFailure extends ProtocolFailure {
  /** A close code. */
  readonly code: number
}

function peerFailure(code: number, message: string): WebSocketFailure {
  return { scope: 'connection', blame: 'peer', code, message }
}

export const INVALID_OPCODE: WebSocketFailure = peerFailure(PROTOCOL_ERROR, 'Invalid opcode received')
export const MASKED_FRAME: WebSocketFailure = peerFailure(PROTOCOL_ERROR, 'Frame must not be masked')
export const RESERVED_BITS: WebSocketFailure = peerFailure(PROTOCOL_ERROR, 'Unexpected RSV bits')
export const FRAGMENTED_CONTROL: WebSocketFailure = peerFailure(
  PROTOCOL_ERROR,
  'Control frame must not be fragmented',
)
export const LONG_CONTROL: WebSocketFailure = peerFailure(PROTOCOL_ERROR, 'Control frame is too long')
export const EXPECTED_CONTINUATION: WebSocketFailure = peerFailure(
  PROTOCOL_ERROR,
  'Expected a continuation frame',
)
export const UNEXPECTED_CONTINUATION: WebSocketFailure = peerFailure(
  PROTOCOL_ERROR,
  'Unexpected continuation frame',
)
export const SHORT_CLOSE: WebSocketFailure = peerFailure(PROTOCOL_ERROR, 'Close frame has a 1-byte body')
export const INVALID_CLOSE_CODE: WebSocketFailure = peerFailure(PROTOCOL_ERROR, 'Invalid close code')
export const INVALID_UTF8: WebSocketFailure = peerFailure(INVALID_DATA, 'Invalid UTF-8')
export const INFLATE_FAILED: WebSocketFailure = peerFailure(INVALID_DATA, 'Invalid compressed data')
export const INVALID_WINDOW_BITS: WebSocketFailure = peerFailure(
  INVALID_DATA,
  'Invalid server_max_window_bits',
)
export const FRAME_TOO_LONG: WebSocketFailure = peerFailure(TOO_BIG, 'Frame length exceeds 2^31 - 1 bytes')
export const PAYLOAD_TOO_BIG: WebSocketFailure = peerFailure(
  TOO_BIG,
  'Payload size exceeds maximum allowed size',
)
export const INFLATED_TOO_BIG: WebSocketFailure = peerFailure(
  TOO_BIG,
  'Max decompressed message size exceeded',
)
export const OUT_OF_MEMORY: WebSocketFailure = peerFailure(TOO_BIG, 'Message does not fit into memory')
export const TOO_MANY_FRAGMENTS: WebSocketFailure = peerFailure(
  POLICY_VIOLATION,
  'Too many message fragments',
)
