import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  huffmanDecode,
  huffmanEncode,
  huffmanLength,
  maxDecodedLength,
} from '../../../src/protocol/hpack/huffman.ts'
import { HUFFMAN_CODES, HUFFMAN_EOS, HUFFMAN_LENGTHS } from '../../../src/protocol/hpack/huffman-table.ts'

function encode(text: string): string {
  const out = Buffer.alloc(text.length * 4 + 4)
  const end = huffmanEncode(text, out, 0)
  assert.equal(end, huffmanLength(text))
  return out.toString('hex', 0, end)
}

/** The text, or null for what the decoder refuses. */
function decode(hex: string): string | null {
  const buf = Buffer.from(hex, 'hex')
  const out = Buffer.alloc(maxDecodedLength(buf.length) + 1)
  const length = huffmanDecode(buf, 0, buf.length, out)
  return length < 0 ? null : out.toString('latin1', 0, length)
}

test('the code is complete: no bit sequence is without a meaning', () => {
  let share = 0
  for (const length of HUFFMAN_LENGTHS) share += 2 ** -length
  assert.equal(HUFFMAN_LENGTHS.length, 257)
  assert.equal(share, 1)
})

// The first and the last code of each length in RFC 7541 Appendix B; those between follow by counting.
const CHART: readonly (readonly [symbol: number, code: number, bits: number])[] = [
  [48, 0x0, 5],
  [116, 0x9, 5],
  [32, 0x14, 6],
  [117, 0x2d, 6],
  [58, 0x5c, 7],
  [122, 0x7b, 7],
  [38, 0xf8, 8],
  [90, 0xfd, 8],
  [33, 0x3f8, 10],
  [63, 0x3fc, 10],
  [39, 0x7fa, 11],
  [124, 0x7fc, 11],
  [35, 0xffa, 12],
  [62, 0xffb, 12],
  [0, 0x1ff8, 13],
  [126, 0x1ffd, 13],
  [94, 0x3ffc, 14],
  [125, 0x3ffd, 14],
  [60, 0x7ffc, 15],
  [123, 0x7ffe, 15],
  [92, 0x7fff0, 19],
  [208, 0x7fff2, 19],
  [128, 0xfffe6, 20],
  [226, 0xfffed, 20],
  [153, 0x1fffdc, 21],
  [230, 0x1fffe8, 21],
  [129, 0x3fffd2, 22],
  [233, 0x3fffeb, 22],
  [1, 0x7fffd8, 23],
  [239, 0x7ffff4, 23],
  [9, 0xffffea, 24],
  [237, 0xfffff5, 24],
  [199, 0x1ffffec, 25],
  [235, 0x1ffffef, 25],
  [192, 0x3ffffe0, 26],
  [255, 0x3ffffee, 26],
  [203, 0x7ffffde, 27],
  [254, 0x7fffff0, 27],
  [2, 0xfffffe2, 28],
  [249, 0xffffffe, 28],
  [10, 0x3ffffffc, 30],
  [HUFFMAN_EOS, 0x3fffffff, 30],
]

test('codes are those of RFC 7541 Appendix B', () => {
  for (const [symbol, code, bits] of CHART) {
    assert.equal(HUFFMAN_CODES[symbol], code, `code of ${symbol}`)
    assert.equal(HUFFMAN_LENGTHS[symbol], bits, `length of ${symbol}`)
  }
})

test('RFC 7541 C.4 and C.6 strings go both ways', () => {
  const examples: readonly (readonly [string, string])[] = [
    ['www.example.com', 'f1e3c2e5f23a6ba0ab90f4ff'],
    ['no-cache', 'a8eb10649cbf'],
    ['custom-key', '25a849e95ba97d7f'],
    ['custom-value', '25a849e95bb8e8b4bf'],
    ['302', '6402'],
    ['private', 'aec3771a4b'],
    ['Mon, 21 Oct 2013 20:13:21 GMT', 'd07abe941054d444a8200595040b8166e082a62d1bff'],
    ['https://www.example.com', '9d29ad171863c78f0b97c8e9ae82ae43d3'],
  ]
  for (const [text, hex] of examples) {
    assert.equal(encode(text), hex)
    assert.equal(decode(hex), text)
  }
})

test('each octet alone and next to each shift of the bit position comes back', () => {
  for (let octet = 0; octet < 256; octet++) {
    const symbol = String.fromCharCode(octet)
    // '0' takes five bits: runs of it bring the symbol to every position within an octet.
    for (let shift = 0; shift < 8; shift++) {
      const text = `${'0'.repeat(shift)}${symbol}${symbol}a`
      assert.equal(decode(encode(text)), text)
    }
  }
})

test('the empty string has an empty code', () => {
  assert.equal(encode(''), '')
  assert.equal(decode(''), '')
})

test('a character that is not latin1 has no length', () => {
  assert.equal(huffmanLength('a\u0100'), -1)
})

test('padding of eight bits or more is refused', () => {
  assert.equal(decode('1f'), 'a')
  assert.equal(decode('1fff'), null)
  assert.equal(decode('ff'), null)
  assert.equal(decode('ffff'), null)
})

test('padding that is not all ones is refused', () => {
  assert.equal(decode('1e'), null)
  assert.equal(decode('18'), null)
  // The five bits of '0' followed by three zeros.
  assert.equal(decode('00'), null)
})

test('padding of one to seven ones is accepted', () => {
  // From none to seven bits of padding, by strings of five-bit codes and six-bit ones.
  for (const text of ['00000000', '0', '00', '000', '0000', '00000', '000000', '0000000', ' ', '  ', '   ']) {
    assert.equal(decode(encode(text)), text)
  }
})

test('the EOS symbol is refused wherever it stands', () => {
  assert.equal(decode('ffffffff'), null)
  assert.equal(decode('fffffffc'), null)
  // 'a', EOS, 'a': 00011 + thirty ones + 00011
  assert.equal(decode('1ffffffff8ff'), null)
})
