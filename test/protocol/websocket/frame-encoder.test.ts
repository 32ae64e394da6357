import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import {
  encodeCloseFrame,
  encodeFrame,
  encodeTextFrame,
} from '../../../src/protocol/websocket/frame-encoder.ts'
import { mask } from '../../../src/protocol/websocket/masking.ts'

const KEY = 0x1234_5678

describe('mask', () => {
  const expected = (bytes: Uint8Array): Uint8Array =>
    bytes.map((byte, i) => byte ^ ((KEY >>> (8 * (i % 4))) & 0xff))

  it('is the same at every alignment and length', () => {
    for (let offset = 0; offset < 8; offset++) {
      for (const length of [0, 1, 3, 4, 5, 63, 64, 65, 66, 67, 68, 300]) {
        const memory = new Uint8Array(offset + length + 1).map((_, i) => i * 31)
        const before = memory.slice()
        mask(memory, offset, offset + length, KEY)
        assert.deepEqual(
          memory.subarray(offset, offset + length),
          expected(before.subarray(offset, offset + length)),
        )
        assert.deepEqual(memory.subarray(0, offset), before.subarray(0, offset))
        assert.equal(memory[offset + length], before[offset + length])
      }
    }
  })

  it('twice gives the bytes back', () => {
    const bytes = new Uint8Array(1000).map((_, i) => i)
    const masked = bytes.slice()
    mask(masked, 0, 1000, KEY)
    assert.notDeepEqual(masked, bytes)
    mask(masked, 0, 1000, KEY)
    assert.deepEqual(masked, bytes)
  })
})

describe('frames', () => {
  it('RFC 6455 §5.7: a masked text message', () => {
    const key = Buffer.from('37fa213d', 'hex').readUInt32LE()
    assert.equal(encodeTextFrame(1, 'Hello', 5, key).toString('hex'), '818537fa213d7f9f4d5158')
  })

  it('every length encoding', () => {
    const head = (length: number): string => {
      const frame = encodeFrame(2, false, [Buffer.alloc(length)], length, 0)
      assert.ok(frame.subarray(-length || frame.length).every((byte) => byte === 0))
      return frame.subarray(0, frame.length - length).toString('hex')
    }
    assert.equal(head(0), '828000000000')
    assert.equal(head(125), '82fd00000000')
    assert.equal(head(126), '82fe007e00000000')
    assert.equal(head(65_535), '82feffff00000000')
    assert.equal(head(65_536), '82ff000000000001000000000000')
  })

  it('joins parts and marks what is compressed', () => {
    const frame = encodeFrame(1, true, [Buffer.from('ab'), Buffer.from('c')], 3, 0)
    assert.equal(frame.toString('hex'), 'c18300000000616263')
  })

  it('leaves the given bytes as they are', () => {
    const bytes = Buffer.from('abc')
    encodeFrame(2, false, [bytes], 3, KEY)
    assert.equal(bytes.toString(), 'abc')
  })

  it('lone surrogates become U+FFFD', () => {
    assert.equal(encodeTextFrame(1, '\ud800', 3, 0).toString('hex'), '818300000000efbfbd')
  })

  it('close: with code and reason, or empty', () => {
    assert.equal(encodeCloseFrame(1000, 'bye', 0).toString('hex'), '88850000000003e8627965')
    assert.equal(encodeCloseFrame(null, '', 0).toString('hex'), '888000000000')
  })

  it('never sends memory that was not written', () => {
    assert.throws(() => encodeFrame(2, false, [Buffer.alloc(2)], 3, KEY), InternalError)
    assert.throws(() => encodeTextFrame(1, 'ab', 3, KEY), InternalError)
  })
})
