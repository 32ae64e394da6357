import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HPACK_LIST_TOO_LARGE, HPACK_OK, HpackDecoder } from '../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../src/protocol/hpack/encoder.ts'
import {
  huffmanDecode,
  huffmanEncode,
  huffmanLength,
  maxDecodedLength,
} from '../../src/protocol/hpack/huffman.ts'
import { STATIC_NAMES } from '../../src/protocol/hpack/static-table.ts'

const latin1 = (maxLength: number): fc.Arbitrary<string> =>
  fc.uint8Array({ maxLength }).map((octets) => Buffer.from(octets).toString('latin1'))

/** Names and values from small sets most of the time, so that tables fill, hit and evict. */
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...STATIC_NAMES.slice(1), 'x-a', 'x-b', 'x-c', 'x-d') },
  { weight: 1, arbitrary: latin1(20) },
)
const value = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('', 'GET', '/', '/index.html', '200', 'gzip, deflate', 'v1', 'v2'),
  },
  { weight: 1, arbitrary: latin1(60) },
  { weight: 1, arbitrary: latin1(3).map((text) => text.repeat(400)) },
)
const list = fc.array(fc.tuple(name, value), { maxLength: 12 }).map((fields) => fields.flat())
const tableSize = fc.oneof(fc.constantFrom(0, 32, 64, 100, 4096, 16384), fc.nat(5000))

interface Step {
  readonly sizes: readonly number[]
  readonly fields: readonly string[]
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    sizes: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(tableSize, { maxLength: 3 })),
    fields: list,
  }),
  { maxLength: 25 },
)

test('any lists over many blocks come back, whatever the table sizes of both sides', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 100, 4096, 8192), steps, (ceiling, blocks) => {
      const encoder = new HpackEncoder({ maxTableSize: ceiling })
      const decoder = new HpackDecoder({ maxTableSize: 4096, maxListSize: 1 << 24, maxFields: 1000 })
      for (const { sizes, fields } of blocks) {
        for (const size of sizes) {
          encoder.setMaxTableSize(size)
          decoder.setMaxTableSize(size)
        }
        const room = HpackEncoder.maxEncodedSize(fields)
        const out = Buffer.alloc(room)
        const end = encoder.encode(fields, out, 0)
        assert.ok(end <= room)
        const decoded: string[] = []
        assert.equal(decoder.decode(out, 0, end, decoded), HPACK_OK, decoder.message)
        assert.deepEqual(decoded, fields)
        assert.equal(decoder.tableSize, encoder.tableSize)
        assert.ok(encoder.tableSize <= Math.max(ceiling, 0))
      }
    }),
    { numRuns: 300 },
  )
})

const block = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  // Mostly plausible: representations with short strings, so that blocks get beyond their first octets.
  fc
    .array(
      fc.oneof(
        fc.integer({ min: 0x80, max: 0xc4 }).map((octet) => [octet]),
        fc
          .tuple(fc.constantFrom(0x00, 0x10, 0x40, 0x41, 0x44, 0x04, 0x7e), fc.uint8Array({ maxLength: 8 }))
          .map(([first, octets]) => {
            const text = [octets.length, ...octets]
            return (first & 0x0f) === 0 ? [first, ...text, ...text] : [first, ...text]
          }),
        fc.integer({ min: 0x20, max: 0x3f }).map((octet) => [octet]),
      ),
      { maxLength: 60 },
    )
    .map((parts) => Uint8Array.from(parts.flat())),
)

test('arbitrary octets never throw, and what comes out is within the caps', () => {
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 5 }),
      fc.nat(2000),
      fc.nat(30),
      (blocks, maxListSize, maxFields) => {
        const decoder = new HpackDecoder({ maxTableSize: 4096, maxListSize, maxFields })
        for (const octets of blocks) {
          const out: string[] = []
          const result = decoder.decode(Buffer.from(octets), 0, octets.length, out)
          let size = 0
          for (const part of out) size += part.length
          assert.ok(out.length <= maxFields * 2)
          assert.ok(size + (out.length / 2) * 32 <= maxListSize)
          assert.ok(decoder.tableSize <= 4096)
          if (result !== HPACK_OK) {
            assert.deepEqual(out, [])
            assert.notEqual(decoder.message, '')
          }
        }
      },
    ),
    { numRuns: 1500 },
  )
})

test('a list over the cap leaves the table as one under the cap does', () => {
  fc.assert(
    fc.property(fc.array(list, { maxLength: 10 }), fc.nat(8), (lists, maxFields) => {
      const encoder = new HpackEncoder()
      const wide = new HpackDecoder({ maxTableSize: 4096, maxListSize: 1 << 24, maxFields: 1000 })
      const tight = new HpackDecoder({ maxTableSize: 4096, maxListSize: 1 << 24, maxFields })
      for (const fields of lists) {
        const out = Buffer.alloc(HpackEncoder.maxEncodedSize(fields))
        const end = encoder.encode(fields, out, 0)
        const all: string[] = []
        const some: string[] = []
        assert.equal(wide.decode(out, 0, end, all), HPACK_OK)
        const over = fields.length > maxFields * 2
        assert.equal(tight.decode(out, 0, end, some), over ? HPACK_LIST_TOO_LARGE : HPACK_OK)
        assert.deepEqual(some, over ? [] : all)
        assert.equal(tight.tableSize, wide.tableSize)
      }
    }),
    { numRuns: 200 },
  )
})

test('Huffman coding comes back', () => {
  fc.assert(
    fc.property(latin1(300), (text) => {
      const out = Buffer.alloc(text.length * 4 + 4)
      const end = huffmanEncode(text, out, 0)
      assert.equal(end, huffmanLength(text))
      const back = Buffer.alloc(maxDecodedLength(end) + 1)
      const length = huffmanDecode(out, 0, end, back)
      assert.equal(back.toString('latin1', 0, length), text)
    }),
  )
})

test('what the Huffman decoder accepts is the only code of its text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (octets) => {
      const back = Buffer.alloc(maxDecodedLength(octets.length) + 1)
      const length = huffmanDecode(octets, 0, octets.length, back)
      if (length < 0) return
      const out = Buffer.alloc(64)
      const end = huffmanEncode(back.toString('latin1', 0, length), out, 0)
      assert.deepEqual([...out.subarray(0, end)], [...octets])
    }),
    { numRuns: 2000 },
  )
})
