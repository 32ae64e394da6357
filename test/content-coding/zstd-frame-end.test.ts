import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ZstdEndCheck, ZstdFrame } from '../../src/content-coding/zstd-frame-end.ts'
import { contentOf, failure } from '../support/exchange.ts'

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

  test('another kind of frame is left to the decoder', () => {
    assert.equal(isComplete(Buffer.from('502a4d1804000000', 'hex'), 8), true)
  })
})

describe('a body in zstd, in front of a decoder that does not notice its end', () => {
  const bytes = Buffer.from(FRAMES['a checksum']!, 'hex')

  test('passes unchanged if it is complete, or empty', async () => {
    for (const body of [bytes, Buffer.alloc(0)]) {
      const check = new ZstdEndCheck()
      check.write(body.subarray(0, 7))
      check.end(body.subarray(7))
      assert.deepEqual(await contentOf(check), body)
    }
  })

  test('fails as a decoder does if it is truncated', async () => {
    const check = new ZstdEndCheck()
    check.end(bytes.subarray(0, -1))
    const error = await failure(contentOf(check))
    assert.deepEqual([error.code, error.message], ['Z_BUF_ERROR', 'unexpected end of file'])
  })
})
