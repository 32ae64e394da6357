import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readFields } from '../../src/request/request-fields.ts'

describe('the fields of a request', () => {
  test('are read from an object, a flat list and pairs', () => {
    for (const headers of [
      { Accept: 'a/b', host: 'c.test' },
      ['Accept', 'a/b', 'host', 'c.test'],
      new Map([
        ['Accept', 'a/b'],
        ['host', 'c.test'],
      ]),
    ]) {
      const { list, host } = readFields(headers)
      assert.deepEqual(list.flat, ['Accept', 'a/b'])
      assert.equal(host, 'c.test')
    }
  })

  test('are none where no headers are given', () => {
    assert.deepEqual(readFields(undefined).list.flat, [])
    assert.deepEqual(readFields(null).list.flat, [])
  })

  test('are read again where an array has changed', () => {
    const values = ['1']
    assert.deepEqual(readFields({ a: values }).list.flat, ['a', ['1']])
    values.push('2')
    assert.deepEqual(readFields({ a: values }).list.flat, ['a', ['1', '2']])
    values.push('b\r\nc: d')
    assert.throws(() => readFields({ a: values }), { message: 'invalid a header' })
  })

  test('are what a getter said once', () => {
    let asked = 0
    const headers = {
      get a() {
        return String(asked++)
      },
    }
    assert.deepEqual(readFields(headers).list.flat, ['a', '0'])
    assert.equal(asked, 1)
  })

  test('are refused in no known shape', () => {
    assert.throws(() => readFields(['a']), { message: 'headers array must be even' })
    assert.throws(() => readFields('a: b'), { message: 'headers must be an object or an array' })
  })
})
