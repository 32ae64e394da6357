import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HeadMemory } from '../../src/protocol/head-memory.ts'
import { HeaderBlock } from '../../src/protocol/header-block.ts'

interface Head {
  readonly fields: HeaderBlock
}

const text = (length: number): Buffer => Buffer.alloc(length, 'abcdefghijklmnopqrstuvwxyz')
const head = (): Head => ({ fields: new HeaderBlock([]) })

describe('HeadMemory', () => {
  for (const length of [1, 7, 8, 31, 32, 256, 257, 1024]) {
    it(`finds a head wherever its bytes are, with no byte changed: ${length}`, () => {
      const memory = new HeadMemory<Head>()
      const stored = head()
      const around = Buffer.concat([Buffer.from('##'), text(length), Buffer.from('##')])
      memory.store(around, 2, 2 + length, stored)
      assert.equal(memory.length, length)
      assert.equal(memory.find(text(length), 0, length), stored)
      assert.equal(memory.find(around, 2, around.length), stored)
      assert.equal(memory.find(text(length), 0, length - 1), null)
      for (const at of [0, length >> 1, length - 1]) {
        const changed = text(length)
        changed[at]! ^= 1
        assert.equal(memory.find(changed, 0, length), null)
      }
    })
  }

  it('copies the bytes, over those of the head before', () => {
    const memory = new HeadMemory<Head>()
    const long = head()
    const bytes = text(300)
    memory.store(bytes, 0, 300, long)
    bytes.fill(0)
    assert.equal(memory.find(text(300), 0, 300), long)
    const short = head()
    memory.store(Buffer.from('short'), 0, 5, short)
    assert.equal(memory.length, 5)
    assert.equal(memory.find(Buffer.from('short'), 0, 5), short)
  })

  it('finds a head for which its memory had to grow', () => {
    const memory = new HeadMemory<Head>()
    for (const length of [100, 300]) {
      const stored = head()
      memory.store(text(length), 0, length, stored)
      assert.equal(memory.find(text(length), 0, length), stored)
    }
  })

  it('keeps none beyond a kilobyte, nor the one before then', () => {
    const memory = new HeadMemory<Head>()
    memory.store(text(10), 0, 10, head())
    memory.store(text(1025), 0, 1025, head())
    assert.equal(memory.find(text(10), 0, 10), null)
    assert.equal(memory.find(text(1025), 0, 1025), null)
  })

  it('compares few after eight in a row that differed', () => {
    const memory = new HeadMemory<Head>()
    const stored = head()
    memory.store(text(10), 0, 10, stored)
    for (let i = 0; i < 8; i++) assert.equal(memory.find(Buffer.from('another'), 0, 7), null)
    const found = Array.from({ length: 66 }, () => memory.find(text(10), 0, 10))
    assert.deepEqual([found.findIndex((one) => one !== null), found.at(-1)], [65, stored])
  })
})
