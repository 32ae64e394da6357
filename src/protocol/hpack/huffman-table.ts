/**
 * The Huffman code of RFC 7541 Appendix B as data. The code is canonical: among symbols of equal length the
 * codes count upwards with the symbol, and each length continues where the shorter one stopped. The lengths
 * therefore determine the codes, which are derived from them.
 */

/** The end-of-string symbol; it must never be encoded (RFC 7541 §5.2). */
export const HUFFMAN_EOS = 256

/** The length of the longest code, in bits. */
const LONGEST_CODE = 30

/** Bits of the code of each symbol, as a digit in base 36: 64 symbols a line, and EOS last. */
export const HUFFMAN_LENGTHS: Uint8Array = Uint8Array.from(
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
    'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
    'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
    'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu',
  (digit) => Number.parseInt(digit, 36),
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
