import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderBlock } from '../../src/protocol/header-block.ts'
import { permittedTrailers } from '../../src/protocol/trailer-names.ts'

test('permittedTrailers keeps a block without forbidden names as it is', () => {
  const block = new HeaderBlock(['x-checksum', '1', 'X-B', '2'])
  assert.equal(permittedTrailers(block), block)
  assert.equal(permittedTrailers(HeaderBlock.EMPTY), HeaderBlock.EMPTY)
})

test('permittedTrailers leaves out what means nothing after a body', () => {
  const block = new HeaderBlock([
    'x-a',
    '1',
    'Content-Length',
    '5',
    'transfer-encoding',
    'chunked',
    'x-b',
    '2',
  ])
  assert.deepEqual(permittedTrailers(block).toObject(), { 'x-a': '1', 'x-b': '2' })
})
