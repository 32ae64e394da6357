/** The numbers of RFC 6455 that more than one file of this folder speaks of. */

/** Opcodes (RFC 6455 §5.2). */
export const CONTINUATION = 0x0
export const TEXT = 0x1
export const BINARY = 0x2
export const CLOSE = 0x8
export const PING = 0x9
export const PONG = 0xa

/** Bits of a frame's first two bytes. */
export const FIN = 0x80
export const RSV1 = 0x40
export const RSV2_RSV3 = 0x30
export const OPCODE = 0x0f
export const CONTROL = 0x08
export const MASKED = 0x80

/** Values of the 7-bit length that announce 16 and 64 bits of length. */
export const LENGTH_16 = 126
export const LENGTH_64 = 127

/** The longest payload of a control frame (RFC 6455 §5.5). */
export const MAX_CONTROL_PAYLOAD = 125
