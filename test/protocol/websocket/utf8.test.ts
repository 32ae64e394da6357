import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { describe, it } from 'node:test'
import { Utf8Validator } from '../../../src/protocol/websocket/utf8.ts'

/** Judges byte by byte; the offset of the first wrong byte, or -1, or 'cut'. */
function judge(bytes: number[], size = 1): number | 'cut' {
  const utf8 = new Utf8Validator()
  const memory = Uint8Array.from(bytes)
  for (let at = 0; at < memory.length; at += size) {
    if (!utf8.accepts(memory, at, Math.min(at + size, memory.length))) return at
  }
  return utf8.complete ? -1 : 'cut'
}

describe('Utf8Validator', () => {
  it('agrees with the runtime on every two bytes, and on every first byte of longer ones', () => {
    for (let first = 0; first < 256; first++) {
      for (let second = 0; second < 256; second++) {
        for (const rest of [[], [0x80], [0x80, 0x80]]) {
          const bytes = [first, second, ...rest]
          const isValid = isUtf8(Uint8Array.from(bytes))
          assert.equal(judge(bytes) === -1, isValid, bytes.toString())
          if (second % 16 === 0) assert.equal(judge(bytes, 4) === -1, isValid, bytes.toString())
        }
      }
    }
  })

  it('fails at the first byte that is wrong', () => {
    assert.equal(judge([0x61, 0xed, 0xa0, 0x80]), 2)
    assert.equal(judge([0xf4, 0x90, 0x80, 0x80]), 1)
    assert.equal(judge([0xf0, 0x8f]), 1)
    assert.equal(judge([0xe0, 0x9f]), 1)
    assert.equal(judge([0xc1]), 0)
    assert.equal(judge([0xf5]), 0)
    assert.equal(judge([0x80]), 0)
    assert.equal(judge([0xe2, 0x82, 0x61]), 2)
    assert.equal(judge([0xed, 0xa0, 0x80], 2), 0)
  })

  it('knows an unfinished character, and starts anew', () => {
    assert.equal(judge([0xf0, 0x9f, 0x98]), 'cut')
    const utf8 = new Utf8Validator()
    assert.equal(utf8.accepts(Uint8Array.of(0xe0), 0, 1), true)
    assert.equal(utf8.complete, false)
    utf8.reset()
    assert.equal(utf8.complete, true)
    assert.equal(utf8.accepts(Uint8Array.of(0xc3, 0xa4), 0, 2), true)
    assert.equal(utf8.accepts(Uint8Array.of(), 0, 0), true)
    assert.equal(utf8.accepts(Uint8Array.of(0xff), 0, 1), false)
    assert.equal(utf8.accepts(Uint8Array.of(0x61), 0, 1), false)
  })
})
