/**
 * Integers with an N-bit prefix (RFC 7541 §5.1). The part that fits the prefix is read by the caller, in
 * line, because nearly every integer in real blocks ends there; this file owns the continuation.
 */

/**
 * The largest value taken from a peer: no index, length or table size that we can honour comes near it, and
 * it keeps all arithmetic in small integers (RFC 7541 §5.1 asks for such a limit).
 */
export const MAX_INTEGER = 0x7fff_ffff

/** Octets after the prefix: five carry 35 bits. More could only pad with zeros, without end. */
const MAX_CONTINUATION = 5

/** Prefix and continuation of the largest integer that we write. */
export const MAX_INTEGER_BYTES = 6

export const INTEGER_TRUNCATED = -1
export const INTEGER_TOO_LARGE = -2

/** Reads continuations; `position` is where the last one ended, so that no result object is needed. */
export class IntegerReader {
  position = 0

  /**
   * The value of an integer whose prefix was full (`prefixMax`) and whose continuation starts at `at`, or
   * `INTEGER_TRUNCATED` or `INTEGER_TOO_LARGE`, both negative.
   */
  read(buf: Uint8Array, at: number, end: number, prefixMax: number): number {
    let value = prefixMax
    let factor = 1
    const limit = at + MAX_CONTINUATION
    let i = at
    while (i < end) {
      if (i === limit) return INTEGER_TOO_LARGE
      const octet = buf[i++]!
      value += (octet & 0x7f) * factor
      if (value > MAX_INTEGER) return INTEGER_TOO_LARGE
      if (octet < 0x80) {
        this.position = i
        return value
      }
      factor *= 128
    }
    return INTEGER_TRUNCATED
  }
}

/** Writes `value` with the bits of `pattern` above its prefix; returns the offset after it. */
export function writeInteger(
  out: Uint8Array,
  offset: number,
  pattern: number,
  prefixMax: number,
  value: number,
): number {
  if (value < prefixMax) {
    out[offset] = pattern | value
    return offset + 1
  }
  let at = offset
  out[at++] = pattern | prefixMax
  let rest = value - prefixMax
  while (rest >= 0x80) {
    out[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  out[at++] = rest
  return at
}
