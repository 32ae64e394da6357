import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FieldsMemory, type RequestFields } from '../../src/request/request-fields.ts'

function readFields(headers: unknown): RequestFields {
  return new FieldsMemory().read(headers)
}

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

describe('the fields of a request with the headers of the last one', () => {
  const given = { Accept: 'a/b', 'content-type': 'c/d' }

  test('are the same object, which knows that it is repeated', () => {
    const memory = new FieldsMemory()
    const first = memory.read(given)
    assert.equal(first.list.isRepeated, false)
    assert.equal(memory.read({ ...given }), first)
    assert.equal(first.list.isRepeated, true)
    assert.equal(first.contentType, 'c/d')
  })

  test('are the same object with the same content-length, which is not in the list', () => {
    const memory = new FieldsMemory()
    const first = memory.read({ ...given, 'content-length': '5' })
    assert.equal(memory.read({ 'content-length': '5', ...given }), first)
    assert.equal(first.contentLength, 5)
    assert.equal(memory.read({ ...given, 'content-length': '6' }).contentLength, 6)
  })

  for (const [title, headers] of [
    ['another value', { Accept: 'a/c', 'content-type': 'c/d' }],
    ['another value at the end', { Accept: 'a/b', 'content-type': 'c/e' }],
    ['another spelling', { accept: 'a/b', 'content-type': 'c/d' }],
    ['another order', { 'content-type': 'c/d', Accept: 'a/b' }],
    ['one field more', { ...given, x: 'y' }],
    ['one field less', { Accept: 'a/b' }],
    ['none', {}],
  ] as const) {
    test(`are not those of headers with ${title}`, () => {
      const memory = new FieldsMemory()
      memory.read(given)
      assert.deepEqual(memory.read(headers).list.flat, Object.entries(headers).flat())
    })
  }

  test('are read again where a field steers the request and is not in the list', () => {
    const memory = new FieldsMemory()
    for (const host of ['a.test', 'b.test']) assert.equal(memory.read({ x: 'y', host }).host, host)
  })

  for (const steering of [{ host: 'a.test' }, { 'content-length': '5' }, { connection: 'close' }]) {
    test(`have no ${Object.keys(steering)} of the last one, which was not in the list`, () => {
      const memory = new FieldsMemory()
      memory.read({ ...given, ...steering })
      const { host, contentLength, close } = memory.read(given)
      assert.deepEqual({ host, contentLength, close }, { host: null, contentLength: null, close: false })
    })
  }

  test('are read again where an array has changed', () => {
    const memory = new FieldsMemory()
    const values = ['1']
    assert.deepEqual(memory.read({ a: values }).list.flat, ['a', ['1']])
    values.push('2')
    assert.deepEqual(memory.read({ a: values }).list.flat, ['a', ['1', '2']])
  })

  test('are refused again when they were refused', () => {
    const memory = new FieldsMemory()
    for (let i = 0; i < 2; i++)
      assert.throws(() => memory.read({ a: 'b\nc' }), { message: 'invalid a header' })
  })
})
