import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import { CHUNK_SUFFIX, chunkPrefix, LAST_CHUNK } from '../../../src/protocol/http1/body-encoder.ts'

describe('chunked bodies', () => {
  it('put a chunk between its size and a line end', () => {
    assert.equal(`${chunkPrefix(5)}hello${CHUNK_SUFFIX}`, '5\r\nhello\r\n')
    assert.equal(chunkPrefix(65_536), '10000\r\n')
  })

  it('refuse a chunk that would end the body or has no length', () => {
    for (const length of [0, -1, 1.5, Number.NaN]) assert.throws(() => chunkPrefix(length), InternalError)
  })

  it('end with an empty chunk', () => {
    assert.equal(LAST_CHUNK, '0\r\n\r\n')
  })
})
