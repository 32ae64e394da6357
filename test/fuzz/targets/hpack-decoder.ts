/** The HPACK decoder: agrees with the reference on every block, respects its limits, and a failure is permanent. */
import assert from 'node:assert/strict'
import {
  HPACK_COMPRESSION_ERROR,
  HPACK_LIST_TOO_LARGE,
  HPACK_OK,
  HpackDecoder,
} from '../../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../../src/protocol/hpack/encoder.ts'
import type { Recording } from '../corpus.ts'
import { CompressionError, ReferenceDecoder } from '../hpack-reference.ts'
import type { Random } from '../random.ts'
import type { Target } from '../target.ts'

const TABLE_SIZE = 4096
/** Twice the size that the recordings need, and small enough that mutations reach it. */
const MAX_LIST_SIZE = 3_000
const MAX_FIELDS = 40

const UNTOUCHED = ['untouched', 'entry']

/** Blocks after their lengths; a damaged length is reduced to the available bytes. */
function* blocksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at + 2 <= bytes.length; ) {
    const end = Math.min(bytes.length, at + 2 + bytes.readUInt16BE(at))
    yield bytes.subarray(at + 2, end)
    at = end
  }
}

function referenceOf(reference: ReferenceDecoder, block: Buffer): string[] | null {
  try {
    return reference.decode(block)
  } catch (error) {
    assert.ok(error instanceof CompressionError)
    return null
  }
}

function listSize(fields: readonly string[]): number {
  return fields.reduce((sum, text) => sum + text.length, 16 * fields.length)
}

/** Our encoder and a second decoder reproduce the same list. */
function assertRoundTrip(fields: readonly string[], encoder: HpackEncoder, decoder: HpackDecoder): void {
  const out = Buffer.alloc(HpackEncoder.maxEncodedSize(fields))
  const end = encoder.encode(fields, out, 0)
  const again: string[] = []
  assert.equal(decoder.decode(out, 0, end, again), HPACK_OK, decoder.message)
  assert.deepEqual(again, fields)
}

function check({ bytes }: Recording, random: Random): void {
  const options = { maxTableSize: TABLE_SIZE, maxListSize: MAX_LIST_SIZE, maxFields: MAX_FIELDS }
  const decoder = new HpackDecoder(options)
  const reference = new ReferenceDecoder(TABLE_SIZE)
  const encoder = new HpackEncoder()
  const second = new HpackDecoder(options)
  for (const block of blocksOf(bytes)) {
    // Somewhere in a larger buffer, between unrelated bytes.
    const before = random.below(20)
    const buffer = Buffer.concat([random.bytes(before), block, random.bytes(random.below(20))])
    const out = [...UNTOUCHED]
    const result = decoder.decode(buffer, before, before + block.length, out)
    assert.deepEqual(out.splice(0, 2), UNTOUCHED)
    assert.ok(decoder.tableSize <= TABLE_SIZE)
    if (result !== HPACK_OK) assert.deepEqual(out, [])
    if (result === HPACK_COMPRESSION_ERROR) {
      assert.equal(referenceOf(reference, block), null, `only the decoder refused: ${decoder.message}`)
      assert.equal(decoder.decode(Buffer.of(0x88), 0, 1, out), HPACK_COMPRESSION_ERROR, 'broken is for good')
      assert.deepEqual(out, [])
      return
    }
    const expected = referenceOf(reference, block)
    if (result === HPACK_LIST_TOO_LARGE) {
      // Literals of a dropped list are skipped, including Huffman faults in them.
      if (expected === null) return
      assert.ok(listSize(expected) > MAX_LIST_SIZE || expected.length > 2 * MAX_FIELDS)
    } else {
      assert.deepEqual(out, expected)
      assert.ok(listSize(out) <= MAX_LIST_SIZE && out.length <= 2 * MAX_FIELDS)
      assertRoundTrip(out, encoder, second)
    }
    assert.equal(decoder.tableSize, reference.tableSize)
  }
}

export const hpackDecoder: Target = { name: 'hpack-decoder', corpus: 'hpack', check }
