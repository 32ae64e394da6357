/** The header lists of the public HPACK stories from six encoders, and our own encoder on the same lists. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HPACK_OK, HpackDecoder } from '../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../src/protocol/hpack/encoder.ts'
import { loadVectors } from '../support/vectors.ts'

interface SizedCase {
  readonly wire: string
  readonly size?: number
}

interface Stories {
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly stories: Readonly<Record<string, readonly (readonly number[])[]>>
  readonly encoders: Readonly<
    Record<string, { readonly stories: Readonly<Record<string, readonly (string | SizedCase)[]>> }>
  >
}

const NONE: Stories = { fields: [], stories: {}, encoders: {} }
const { data: vectors, skip } = loadVectors('hpack.json', NONE)

function newDecoder(): HpackDecoder {
  return new HpackDecoder({ maxTableSize: 4096, maxListSize: 1 << 20, maxFields: 1000 })
}

function listOf(story: string, block: number): string[] {
  return vectors.stories[story]![block]!.flatMap((index) => [...vectors.fields[index]!])
}

function decode(decoder: HpackDecoder, wire: Buffer, where: string): string[] {
  const out: string[] = []
  assert.equal(decoder.decode(wire, 0, wire.length, out), HPACK_OK, `${where}: ${decoder.message}`)
  return out
}

test('the stories are present', { skip }, () => {
  assert.equal(Object.keys(vectors.encoders).length, 6)
})

describe('our decoder reads what others wrote', { skip }, () => {
  for (const [encoder, { stories }] of Object.entries(vectors.encoders)) {
    test(encoder, () => {
      for (const [story, blocks] of Object.entries(stories)) {
        const decoder = newDecoder()
        for (const [block, entry] of blocks.entries()) {
          const { wire, size } = typeof entry === 'string' ? { wire: entry, size: undefined } : entry
          if (size !== undefined) decoder.setMaxTableSize(size)
          const where = `story ${story}, block ${block}`
          assert.deepEqual(decode(decoder, Buffer.from(wire, 'base64'), where), listOf(story, block), where)
        }
      }
    })
  }
})

describe('our decoder reads what our encoder wrote', { skip }, () => {
  for (const changing of [false, true]) {
    test(changing ? 'with a table size that changes' : 'with a table of 4096', () => {
      for (const [story, blocks] of Object.entries(vectors.stories)) {
        const decoder = newDecoder()
        const encoder = new HpackEncoder()
        for (const block of blocks.keys()) {
          if (changing && block % 5 === 4) {
            for (const size of [(block * 331) % 4097, (block * 977) % 4097]) {
              encoder.setMaxTableSize(size)
              decoder.setMaxTableSize(size)
            }
          }
          const list = listOf(story, block)
          const out = Buffer.alloc(HpackEncoder.maxEncodedSize(list))
          const wire = out.subarray(0, encoder.encode(list, out, 0))
          const where = `story ${story}, block ${block}`
          assert.deepEqual(decode(decoder, wire, where), list, where)
          assert.equal(encoder.tableSize, decoder.tableSize, where)
        }
      }
    })
  }
})
