/** Decoding a small body in one call, without a stream. */
import { decodeAll, type Truncation } from './decoders.ts'
import { ZstdFrame } from './zstd-frame-end.ts'

/** More than a page has in a coding, and decoded within a millisecond or two. */
export const MAX_WHOLE_BYTES = 16_384

/**
 * A body that expands to more than this is decoded piece by piece: meanwhile the program could do nothing
 * else.
 */
const MAX_OUTPUT_BYTES = 262_144

/** Memory for the output. What does not fit costs another piece, and a copy of both. */
const LEAST_MEMORY = 1024
const MOST_MEMORY = 65_536
/** In lengths of the input, where nothing tells the length of the output. */
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

/** One that is complete, and nothing else: a stream decodes what is not. */
function isOneFrame(bytes: Uint8Array): boolean {
  const frame = new ZstdFrame()
  return frame.read(bytes) === bytes.length && frame.isComplete && frame.kind === 'coded'
}

/** One byte more than comes out: the runtime takes memory that is full for a sign that more follows. */
function expectedSize(coding: string, bytes: Uint8Array): number {
  const { length } = bytes
  // The end of a gzip member says how long its content is (RFC 1952 §2.3.1). It may lie.
  const isGzip = (coding === 'gzip' || coding === 'x-gzip') && length >= 4
  if (!isGzip) return length * USUAL_RATIO
  const size = bytes[length - 4]! | (bytes[length - 3]! << 8) | (bytes[length - 2]! << 16)
  return bytes[length - 1] === 0 ? size + 1 : MOST_MEMORY
}
