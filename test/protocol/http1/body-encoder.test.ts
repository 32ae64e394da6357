import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InternalError } from '../../../src/base/invariant.ts'
import { HeaderList } from '../../../src/protocol/header-list.ts'
import {
  CHUNK_SUFFIX,
  chunkPrefix,
  LAST_CHUNK,
  LengthCounter,
  lastChunk,
} from '../../../src/protocol/http1/body-encoder.ts'

describe('chunked bodies', () => {
  it('put a chunk between its size and a line end', () => {
    assert.equal(`${chunkPrefix(5)}hello${CHUNK_SUFFIX}`, '5\r\nhello\r\n')
    assert.equal(chunkPrefix(65_536), '10000\r\n')
  })

  it('refuse a chunk that would end the body or has no length', () => {
    for (const length of [0, -1, 1.5, Number.NaN]) assert.throws(() => chunkPrefix(length), InternalError)
  })

  it('end with an empty chunk and trailers, if any', () => {
    const trailers = new HeaderList()
    assert.equal(lastChunk(null), LAST_CHUNK)
    assert.equal(lastChunk(trailers), '0\r\n\r\n')
    trailers.append('X-Sum', ['1', '2'])
    assert.equal(lastChunk(trailers), '0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n')
  })
})

describe('LengthCounter', () => {
  it('knows too much and too little', () => {
    const counter = new LengthCounter(5)
    assert.equal(counter.exceeds(5), false)
    assert.equal(counter.exceeds(6), true)
    counter.add(3)
    assert.equal(counter.written, 3)
    assert.equal(counter.exceeds(3), true)
    assert.equal(counter.short, true)
    counter.add(2)
    assert.equal(counter.short, false)
    assert.equal(counter.declared, 5)
  })

  it('refuses a length that is none', () => {
    for (const length of [-1, 0.5, Number.NaN]) assert.throws(() => new LengthCounter(length), InternalError)
  })
})
