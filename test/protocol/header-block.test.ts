import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addField, HeaderBlock, type HeaderObject } from '../../src/protocol/header-block.ts'

describe('HeaderBlock', () => {
  const block = new HeaderBlock([
    'Set-Cookie',
    'a',
    'X-A',
    '1',
    'set-cookie',
    'b',
    'SET-COOKIE',
    'c',
    'x-e',
    '',
  ])

  it('makes an object with lower-case names and arrays for repeated ones', () => {
    assert.deepEqual(block.toObject(), { 'set-cookie': ['a', 'b', 'c'], 'x-a': '1', 'x-e': '' })
  })

  it('makes a fresh object each time', () => {
    const first = block.toObject()
    first['x-a'] = 'changed'
    const cookies = first['set-cookie']
    assert.ok(Array.isArray(cookies))
    cookies.push('d')
    assert.deepEqual(block.toObject()['x-a'], '1')
    assert.deepEqual(block.toObject()['set-cookie'], ['a', 'b', 'c'])
  })

  it('makes a fresh object each time even when it is prepared for reuse', () => {
    const plain = new HeaderBlock(['X-A', '1', '__proto__', 'p', 'x-b', ''])
    for (const repeated of [plain, block]) {
      const before = repeated.toObject()
      repeated.prepareForReuse()
      repeated.prepareForReuse()
      const first = repeated.toObject()
      assert.deepEqual(first, before)
      assert.equal(Object.getPrototypeOf(first), Object.prototype)
      first['x-a'] = 'changed'
      for (const value of Object.values(first)) if (Array.isArray(value)) value.push('changed')
      assert.deepEqual(repeated.toObject(), before)
    }
  })

  it('has the fields of a list from a position on', () => {
    const rest = new HeaderBlock([':status', '200', 'X-A', '1'], 2)
    assert.deepEqual(rest.toObject(), { 'x-a': '1' })
    assert.deepEqual(rest.flat, ['X-A', '1'])
    assert.deepEqual(rest.flat, ['X-A', '1'])
    assert.deepEqual(rest.toObject(), { 'x-a': '1' })
  })

  it('has the fields of a text, and hands out the object that was made of it once', () => {
    const object: HeaderObject = { 'x-a': '1 2', 'x-e': '', 'x-s': '' }
    const read = HeaderBlock.ofText('OK\r\nX-A:\t 1 2 \t\r\nx-e:\r\nx-s: \r\n\r\n', 4, object)
    assert.equal(read.toObject(), object)
    object['x-a'] = 'changed'
    assert.deepEqual(read.toObject(), { 'x-a': '1 2', 'x-e': '', 'x-s': '' })
    assert.deepEqual(read.flat, ['X-A', '1 2', 'x-e', '', 'x-s', ''])
  })

  it('makes an empty object of no fields', () => {
    assert.deepEqual(HeaderBlock.EMPTY.toObject(), {})
  })

  it('gives the raw names and values as latin1 bytes', () => {
    const raw = new HeaderBlock(['X-\xe9', '\xff']).toBuffers()
    assert.deepEqual(raw, [Buffer.from([0x58, 0x2d, 0xe9]), Buffer.from([0xff])])
  })

  it('keeps names that exist on every object as plain fields', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    for (const name of names) {
      const lower = name.toLowerCase()
      for (const count of [1, 2, 3]) {
        const values = Array.from({ length: count }, (_, i) => `v${i}`)
        const object = new HeaderBlock(values.flatMap((value) => [name, value])).toObject()
        assert.equal(Object.getPrototypeOf(object), Object.prototype)
        assert.deepEqual(Object.keys(object), [lower])
        assert.deepEqual(Object.getOwnPropertyDescriptor(object, lower), {
          value: count === 1 ? 'v0' : values,
          writable: true,
          enumerable: true,
          configurable: true,
        })
      }
    }
  })

  it('adds to an object that has fields already', () => {
    const object: HeaderObject = { a: '1' }
    addField(object, 'x-a', '1')
    addField(object, 'a', '2')
    assert.deepEqual(object['a'], ['1', '2'])
    assert.equal(object['x-a'], '1')
  })
})
