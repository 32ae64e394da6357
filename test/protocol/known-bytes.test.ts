import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KnownBytes } from '../../src/protocol/known-bytes.ts'

const text = (length: number): Buffer => Buffer.alloc(length, 'abcdefghijklmnopqrstuvwxyz')

describe('known bytes', () => {
  for (const length of [1, 7, 8, 31, 32, 256, 257, 1024]) {
    it(`are known again wherever they stand, and with no byte changed: ${length}`, () => {
      const known = new KnownBytes()
      assert.equal(known.length, 0)
      const around = Buffer.concat([Buffer.from('##'), text(length), Buffer.from('##')])
      assert.equal(known.keep(around, 2, 2 + length), true)
      assert.equal(known.length, length)
      assert.equal(known.standAt(text(length), 0), true)
      assert.equal(known.standAt(around, 2), true)
      for (const at of [0, length >> 1, length - 1]) {
        const changed = text(length)
        changed[at]! ^= 1
        assert.equal(known.standAt(changed, 0), false)
      }
    })
  }

  it('are a copy, in place of those before', () => {
    const known = new KnownBytes()
    const first = text(300)
    known.keep(first, 0, 300)
    first.fill(0)
    assert.equal(known.standAt(text(300), 0), true)
    known.keep(Buffer.from('short'), 0, 5)
    assert.equal(known.length, 5)
    assert.equal(known.standAt(Buffer.from('short'), 0), true)
  })

  it('are compared with the memory that they were moved to when they grew', () => {
    const known = new KnownBytes()
    for (const length of [100, 300]) {
      known.keep(text(length), 0, length)
      assert.equal(known.standAt(text(length), 0), true)
    }
  })

  it('are not kept beyond a kilobyte, nor are those before then', () => {
    const known = new KnownBytes()
    known.keep(text(10), 0, 10)
    assert.equal(known.keep(text(1025), 0, 1025), false)
    assert.equal(known.length, 0)
  })
})
