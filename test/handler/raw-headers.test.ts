import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { util } from '../../src/index.ts'

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('util', () => {
  test('parseHeaders: lower-case names, repeated ones as arrays, Buffers as Latin-1', () => {
    const list = ['A', '1', latin1('B'), latin1('x\xe9'), 'a', '2', 'c', ['1', latin1('2')], 'A', '3']
    assert.deepEqual(util.parseHeaders(list), { a: ['1', '2', '3'], b: 'x\xe9', c: ['1', '2'] })
    assert.deepEqual(util.parseHeaders([]), {})
  })

  test('parseHeaders: an array after a value is appended', () => {
    assert.deepEqual(util.parseHeaders(['a', '1', 'a', ['2', '3']]), { a: ['1', '2', '3'] })
  })

  test('parseHeaders: adds to the given object, and returns it', () => {
    const object = { a: '1' }
    assert.equal(util.parseHeaders(['A', '2'], object), object)
    assert.deepEqual(object, { a: ['1', '2'] })
  })

  test('parseHeaders: __proto__ and constructor are ordinary names', () => {
    const parsed = util.parseHeaders(['__proto__', 'p', 'constructor', 'c', '__proto__', 'q'])
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype)
    assert.deepEqual(Object.entries(parsed), [
      ['__proto__', ['p', 'q']],
      ['constructor', 'c'],
    ])
  })

  test('parseHeaders: a list that is none, or has no value for a name', () => {
    for (const list of [['a'], null, undefined, 'ab', 5, {}]) {
      assert.throws(() => util.parseHeaders(list as never), TypeError)
    }
  })

  test('headerNameToString', () => {
    assert.equal(util.headerNameToString('Content-Type'), 'content-type')
    assert.equal(util.headerNameToString(latin1('X-\xc9')), 'x-\xe9')
    assert.equal(util.headerNameToString(''), '')
  })
})
