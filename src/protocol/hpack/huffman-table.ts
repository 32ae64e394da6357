/**
 * The Huffman code of RFC 7541 Appendix B as data. The code is canonical: among symbols of equal length the
 * codes count upwards with the symbol, and each length continues where the shorter one stopped. The lengths
 * therefore determine the codes, which are derived from them.
 */

/** The end-of-string symbol; it must never be encoded (RFC 7541 §5.2). */
export const HUFFMAN_EOS = 256

/** The length of the longest code, in bits. */
const LONGEST_CODE = 30

/** Bits of the code of each symbol: sixteen bytes a row, then EOS. */
// biome-ignore format: one row for sixteen symbols, as in a code chart
export const HUFFMAN_LENGTHS: Uint8Array = Uint8Array.of(
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
  28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
  5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
  24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
  21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
  26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
)

/** The code of each symbol, right-aligned. */
export const HUFFMAN_CODES: Uint32Array = canonicalCodes(HUFFMAN_LENGTHS)

function canonicalCodes(lengths: Uint8Array): Uint32Array {
  const codes = new Uint32Array(lengths.length)
  let code = 0
  for (let length = 1; length <= LONGEST_CODE; length++) {
    code <<= 1
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      if (lengths[symbol] === length) codes[symbol] = code++
    }
  }
  return codes
}
