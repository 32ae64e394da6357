import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RequestFields } from '../../src/request/request-fields.ts'

function fieldsOf(headers: unknown): RequestFields {
  const fields = new RequestFields()
  fields.addAll(headers)
  return fields
}

describe('RequestFields', () => {
  test('keeps order, case and duplicates', () => {
    const { list } = fieldsOf(['X-A', '1', 'x-a', ['2', 3, null], 'B', false])
    assert.deepEqual(list.flat, ['X-A', '1', 'x-a', ['2', '3', ''], 'B', 'false'])
  })

  test('names that steer the request do not reach the list', () => {
    const fields = fieldsOf({
      Host: 'a',
      'Content-Length': 12,
      Connection: 'keep-alive, CLOSE',
      'Content-Type': 'a/b',
    })
    assert.equal(fields.host, 'a')
    assert.equal(fields.contentLength, 12)
    assert.equal(fields.close, true)
    assert.equal(fields.contentType, 'a/b')
    assert.deepEqual(fields.list.flat, ['Content-Type', 'a/b'])
  })

  test('the first content type counts', () => {
    assert.equal(fieldsOf(['content-type', 'a', 'Content-Type', 'b']).contentType, 'a')
    assert.equal(fieldsOf({ 'content-type': ['a', 'b'] }).contentType, 'a')
    assert.equal(fieldsOf({ 'content-type': [] }).contentType, '')
    assert.equal(fieldsOf({}).contentType, null)
  })

  test('an empty host is a host', () => {
    assert.equal(fieldsOf({ host: '' }).host, '')
    assert.throws(() => fieldsOf(['host', '', 'host', '']), { message: 'duplicate host header' })
    assert.equal(fieldsOf({ host: undefined }).host, null)
  })

  test('pseudo headers of the caller are discarded, and no other name begins with a colon', () => {
    const given = { ':path': '/', ':METHOD': 'x', ':scheme': 'y', ':authority': 'z\r\n', a: 'b' }
    assert.deepEqual(fieldsOf(given).list.flat, ['a', 'b'])
    for (const name of [':', ':protocol', ':status', ':other', '::path']) {
      assert.throws(() => fieldsOf({ [name]: 'x' }), { message: 'invalid header key' })
    }
  })

  test('only own enumerable string keys of an object', () => {
    const headers = Object.create({ inherited: 'x' }, { hidden: { value: 'x', enumerable: false } })
    headers.own = '1'
    headers[Symbol('s')] = 'x'
    assert.deepEqual(fieldsOf(headers).list.flat, ['own', '1'])
  })

  test('what is checked is what is sent: a value is turned into text once', () => {
    let turns = 0
    const value = Object.assign(() => {}, {
      toString() {
        turns++
        return turns === 1 ? 'good' : 'bad\r\n'
      },
    })
    assert.deepEqual(fieldsOf({ a: value }).list.flat, ['a', 'good'])
    assert.equal(turns, 1)
    const array = ['a']
    const { list } = fieldsOf({ x: array })
    array[0] = 'b\r\n'
    assert.deepEqual(list.flat, ['x', ['a']])
  })

  test('a length beyond what numbers can count is refused', () => {
    assert.equal(fieldsOf({ 'content-length': '9007199254740991' }).contentLength, 2 ** 53 - 1)
    assert.throws(() => fieldsOf({ 'content-length': '9007199254740992' }), {
      message: 'invalid content-length header',
    })
  })
})
