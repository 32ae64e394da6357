/** Integers with an N-bit prefix (RFC 7541 §5.1), as they are written. */

/** Prefix and continuation of the largest integer that we write. */
export const MAX_INTEGER_BYTES = 6

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
