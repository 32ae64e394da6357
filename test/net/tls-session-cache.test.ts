import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sessionKey, TlsSessionCache } from '../../src/net/tls-session-cache.ts'

const a = Buffer.from('a')
const b = Buffer.from('b')
const c = Buffer.from('c')

test('the newest session of a key is kept', () => {
  const cache = new TlsSessionCache(2)
  assert.equal(cache.get('x'), null)
  cache.set('x', a)
  cache.set('x', b)
  assert.equal(cache.get('x'), b)
  assert.equal(cache.size, 1)
})

test('when full, the key stored longest ago makes room', () => {
  const cache = new TlsSessionCache(2)
  cache.set('x', a)
  cache.set('y', b)
  cache.set('x', c)
  cache.set('z', a)
  assert.equal(cache.get('y'), null)
  assert.equal(cache.get('x'), c)
  assert.equal(cache.get('z'), a)
})

test('with a limit of one, two keys evict each other', () => {
  const cache = new TlsSessionCache(1)
  cache.set('x', a)
  cache.set('y', b)
  assert.equal(cache.get('x'), null)
  cache.set('x', a)
  assert.equal(cache.get('y'), null)
})

test('a limit of zero keeps nothing', () => {
  const cache = new TlsSessionCache(0)
  cache.set('x', a)
  assert.equal(cache.size, 0)
})

test('a session can be forgotten', () => {
  const cache = new TlsSessionCache(1)
  cache.set('x', a)
  cache.delete('x')
  assert.equal(cache.get('x'), null)
})

test('a collected session makes room before a live one', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const cache = new TlsSessionCache(2)
  cache.set('live', a)
  cache.set('lost', Buffer.alloc(64 * 1024))
  // A WeakRef holds its target until the running job has ended.
  for (let i = 0; i < 20 && cache.get('lost') !== null; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  assert.equal(cache.get('lost'), null)
  cache.set('new', b)
  assert.equal(cache.get('new'), b)
  assert.equal(cache.get('live'), a)
  assert.equal(cache.size, 2)
})

test('the key tells host, port and server name apart (CVE-2026-48934)', () => {
  const keys = [
    sessionKey('a', 'b', 1),
    sessionKey('a', 'c', 1),
    sessionKey('a', 'b', 2),
    sessionKey(null, 'b', 1),
    sessionKey('b', 'a', 1),
  ]
  assert.equal(new Set(keys).size, keys.length)
})
