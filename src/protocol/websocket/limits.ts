/** Ceilings on what a server may make this side keep. */

export interface WebSocketLimits {
  /** Most frames of one message, empty ones included; 0 for any number. */
  readonly maxFragments: number
  /** Most bytes of one message, as they come and as they inflate to; 0 for any number. */
  readonly maxPayloadSize: number
}

/**
 * The longest frame. RFC 6455 §5.2 allows 2^63 - 1 bytes; no buffer and no string of the runtime is that
 * long, and above 2^53 a length would not even be an exact number.
 */
export const MAX_FRAME_LENGTH: number = 2 ** 31 - 1

/**
 * A frame's payload gets its memory at once up to this length; beyond, memory grows with what has really
 * come, so that announcing a long frame costs the peer as much as it costs us.
 */
export const TRUSTED_LENGTH: number = 256 * 1024
