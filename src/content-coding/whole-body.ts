/** Decodes a small body in one call, without a stream. */
import { decodeAll, type Truncation } from './decoders.ts'
import { ZstdFrame } from './zstd-frame-end.ts'

/** Coded bytes: more than most pages have, and decoded within a millisecond or two. */
export const MAX_WHOLE_BYTES = 16_384

/**
 * A body that expands to more than this is decoded by a stream, because a long call would block the event
 * loop.
 */
const MAX_OUTPUT_BYTES = 262_144

/** Memory for the output. If it does not fit, the runtime allocates another piece and copies both. */
const LEAST_MEMORY = 1024
const MOST_MEMORY = 65_536
/** The output is assumed to be this many times the input, if nothing tells its length. */
const USUAL_RATIO = 5

/**
 * Null if it expands to too much, or if the runtime needs a stream for it. Throws what the runtime throws.
 */
export function decodeWhole(
  coding: string,
  truncation: Truncation,
  bytes: Uint8Array,
  maxOutputLength: number = MAX_OUTPUT_BYTES,
): Buffer | null {
  if (coding === 'zstd' && !isOneFrame(bytes)) return null
  const chunkSize = Math.min(Math.max(expectedSize(coding, bytes), LEAST_MEMORY), MOST_MEMORY)
  try {
    return decodeAll(coding, truncation, bytes, { chunkSize, maxOutputLength })
  } catch (error) {
    // More than `maxOutputLength`. Data that cannot be decoded is another kind of error.
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Whether this is one complete frame with content. Anything else is decoded by a stream. */
function isOneFrame(bytes: Uint8Array): boolean {
  const frame = new ZstdFrame()
  return frame.read(bytes) === bytes.length && frame.isComplete && frame.kind === 'coded'
}

/** One byte more than the output: if the memory is full, the runtime expects that more follows. */
function expectedSize(coding: string, bytes: Uint8Array): number {
  const { length } = bytes
  // The end of a gzip member says how long its content is (RFC 1952 §2.3.1). It may lie.
  const isGzip = (coding === 'gzip' || coding === 'x-gzip') && length >= 4
  if (!isGzip) return length * USUAL_RATIO
  const size = bytes[length - 4]! | (bytes[length - 3]! << 8) | (bytes[length - 2]! << 16)
  return bytes[length - 1] === 0 ? size + 1 : MOST_MEMORY
}
