import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LastBytes } from '../../src/protocol/last-bytes.ts'

const text = (length: number): Buffer => Buffer.alloc(length, 'abcdefghijklmnopqrstuvwxyz')

describe('last bytes', () => {
  for (const length of [1, 7, 8, 31, 32, 256, 257, 1024]) {
    it(`match wherever they are, and with no byte changed: ${length}`, () => {
      const last = new LastBytes()
      assert.equal(last.length, 0)
      const around = Buffer.concat([Buffer.from('##'), text(length), Buffer.from('##')])
      assert.equal(last.store(around, 2, 2 + length), true)
      assert.equal(last.length, length)
      assert.equal(last.matches(text(length), 0), true)
      assert.equal(last.matches(around, 2), true)
      for (const at of [0, length >> 1, length - 1]) {
        const changed = text(length)
        changed[at]! ^= 1
        assert.equal(last.matches(changed, 0), false)
      }
    })
  }

  it('are a copy, in place of those before', () => {
    const last = new LastBytes()
    const first = text(300)
    last.store(first, 0, 300)
    first.fill(0)
    assert.equal(last.matches(text(300), 0), true)
    last.store(Buffer.from('short'), 0, 5)
    assert.equal(last.length, 5)
    assert.equal(last.matches(Buffer.from('short'), 0), true)
  })

  it('are compared with the memory that they were moved to when they grew', () => {
    const last = new LastBytes()
    for (const length of [100, 300]) {
      last.store(text(length), 0, length)
      assert.equal(last.matches(text(length), 0), true)
    }
  })

  it('are not kept beyond a kilobyte, nor are those before then', () => {
    const last = new LastBytes()
    last.store(text(10), 0, 10)
    assert.equal(last.store(text(1025), 0, 1025), false)
    assert.equal(last.length, 0)
  })
})
