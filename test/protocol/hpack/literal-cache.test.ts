import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LiteralCache, MAX_CACHED_OCTETS } from '../../../src/protocol/hpack/literal-cache.ts'

const buf = Buffer.from('..abcabd..', 'latin1')

test('only the same octets with the same coding find their string', () => {
  const cache = new LiteralCache()
  assert.equal(cache.find(buf, 2, 5, false), null)
  cache.put(buf, 2, 5, false, 'abc')
  assert.equal(cache.find(buf, 2, 5, false), 'abc')
  assert.equal(cache.find(Buffer.from('abc'), 0, 3, false), 'abc')
  assert.equal(cache.find(buf, 2, 5, true), null)
  assert.equal(cache.find(buf, 5, 8, false), null)
  assert.equal(cache.find(buf, 2, 4, false), null)
})

test('literals that share a slot take turns and are never mixed up', () => {
  const cache = new LiteralCache()
  let displaced = 0
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 1000; i++) {
      const text = String(1000 + i)
      const octets = Buffer.from(text)
      const known = cache.find(octets, 0, 4, false)
      if (known === null) {
        if (round === 1) displaced++
        cache.put(octets, 0, 4, false, text)
      } else {
        assert.equal(known, text)
      }
      assert.equal(cache.find(octets, 0, 4, false), text)
    }
  }
  assert.ok(displaced > 0)
})

test('the longest literal that is cached does not run into the next slot', () => {
  const cache = new LiteralCache()
  const texts = Array.from({ length: 50 }, (_, i) => String.fromCharCode(40 + i).repeat(MAX_CACHED_OCTETS))
  for (const text of texts) {
    const octets = Buffer.from(text)
    assert.equal(cache.find(octets, 0, octets.length, false), null)
    cache.put(octets, 0, octets.length, false, text)
  }
  for (const text of texts) {
    const known = cache.find(Buffer.from(text), 0, text.length, false)
    assert.ok(known === null || known === text)
  }
})
