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

const failureWith =
  (code: number) =>
  (message: string): WebSocketFailure => ({ scope: 'connection', blame: 'peer', code, message })
const violation = failureWith(PROTOCOL_ERROR)
const invalid = failureWith(INVALID_DATA)
const excess = failureWith(TOO_BIG)

export const INVALID_OPCODE: WebSocketFailure = violation('Invalid opcode received')
export const MASKED_FRAME: WebSocketFailure = violation('Frame must not be masked')
export const RESERVED_BITS: WebSocketFailure = violation('Unexpected RSV bits')
export const FRAGMENTED_CONTROL: WebSocketFailure = violation('Control frame must not be fragmented')
export const LONG_CONTROL: WebSocketFailure = violation('Control frame is too long')
export const EXPECTED_CONTINUATION: WebSocketFailure = violation('Expected a continuation frame')
export const UNEXPECTED_CONTINUATION: WebSocketFailure = violation('Unexpected continuation frame')
export const SHORT_CLOSE: WebSocketFailure = violation('Close frame has a 1-byte body')
export const INVALID_CLOSE_CODE: WebSocketFailure = violation('Invalid close code')
export const INVALID_UTF8: WebSocketFailure = invalid('Invalid UTF-8')
export const INFLATE_FAILED: WebSocketFailure = invalid('Invalid compressed data')
export const INVALID_WINDOW_BITS: WebSocketFailure = invalid('Invalid server_max_window_bits')
export const FRAME_TOO_LONG: WebSocketFailure = excess('Frame length exceeds 2^31 - 1 bytes')
export const PAYLOAD_TOO_BIG: WebSocketFailure = excess('Payload size exceeds maximum allowed size')
export const INFLATED_TOO_BIG: WebSocketFailure = excess('Max decompressed message size exceeded')
export const OUT_OF_MEMORY: WebSocketFailure = excess('Message does not fit into memory')
export const TOO_MANY_FRAGMENTS: WebSocketFailure = failureWith(POLICY_VIOLATION)(
  'Too many message fragments',
)
