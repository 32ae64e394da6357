import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ZstdFrame } from '../../src/content-coding/zstd-frame-end.ts'

/** As zstd writes them. Node 20 has no zstd. */
const FRAMES: Record<string, string> = {
  'a size of one byte': '28b52ffd201e750000406120746578742c200100530a17',
  'a checksum': '28b52ffd241e750000406120746578742c200100530a17f0ea4f93',
  'a window instead of a size': '28b52ffd0000750000406120746578742c200100530a17',
  'several blocks, of repeated bytes': '28b52ffda4e09304005400001000000100fbff39c00202001000039f04002d28de26',
  'no content': '28b52ffd2000010000',
  'a raw block': '28b52ffd2009490000010203040506070809',
  'blocks that were flushed': '28b52ffd0058740000406120746578742c200100530a174500000002008080542610',
  // RLE: three bytes of header and one of content, whatever the size. By hand: a dictionary of two bytes, a size of eight.
  'an RLE block, and each optional field': '28b52ffdc600aabb0800000000000000430000610badcafe',
}

function isComplete(bytes: Buffer, size: number): boolean {
  const frame = new ZstdFrame()
  for (let at = 0; at < bytes.length; at += size) frame.read(bytes.subarray(at, at + size))
  return frame.isComplete
}

describe('the end of a zstd frame', () => {
  for (const [name, hex] of Object.entries(FRAMES)) {
    test(name, () => {
      const bytes = Buffer.from(hex, 'hex')
      for (const size of [1, 2, 3, 5, bytes.length]) {
        for (let length = 0; length < bytes.length; length++) {
          assert.equal(isComplete(bytes.subarray(0, length), size), false, `${length} bytes by ${size}`)
        }
        assert.equal(isComplete(bytes, size), true, `by ${size}`)
      }
    })
  }

  test('anything after the frame', () => {
    assert.equal(isComplete(Buffer.from(`${FRAMES['no content']}28b5`, 'hex'), 4), true)
  })

  test('a skippable frame', () => {
    const bytes = Buffer.from('5f2a4d1804000000aabbccdd', 'hex')
    for (const size of [1, 3, 12]) {
      assert.equal(isComplete(bytes.subarray(0, -1), size), false)
      assert.equal(isComplete(bytes, size), true)
    }
  })

  test('what is no frame is left to the decoder', () => {
    const frame = new ZstdFrame()
    assert.equal(frame.read(Buffer.from('no frame at all')), 15)
    assert.deepEqual([frame.kind, frame.isComplete], ['invalid', false])
  })

  test('the whole magic number counts', () => {
    for (const hex of ['aabb4d1804000000aabbccdd', '602a4d1804000000aabbccdd', 'aabb2ffd2000010000']) {
      for (const size of [1, 3, 12]) {
        const bytes = Buffer.from(hex, 'hex')
        const frame = new ZstdFrame()
        for (let at = 0; at < bytes.length; at += size) frame.read(bytes.subarray(at, at + size))
        assert.deepEqual([frame.kind, frame.isComplete], ['invalid', false], `${hex} by ${size}`)
      }
    }
  })
})
