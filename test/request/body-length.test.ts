import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { expectsPayload, lengthMismatch, lengthToSend } from '../../src/request/body-length.ts'

const PAYLOAD = ['PUT', 'POST', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']
const BODYLESS = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT']

describe('the length of a request body', () => {
  test('methods that expect one, in exact case', () => {
    for (const method of PAYLOAD) assert.equal(expectsPayload(method), true)
    for (const method of [...BODYLESS, 'DELETE', 'put', 'x']) assert.equal(expectsPayload(method), false)
  })

  test('known before declared before nothing; an empty one only where it is expected', () => {
    assert.equal(lengthToSend('POST', 3, 5), 3)
    assert.equal(lengthToSend('POST', null, 5), 5)
    assert.equal(lengthToSend('POST', null, null), null)
    assert.equal(lengthToSend('POST', 0, 10), 0)
    assert.equal(lengthToSend('GET', 0, 5), null)
    assert.equal(lengthToSend('DELETE', 0, null), null)
    assert.equal(lengthToSend('DELETE', 3, null), 3)
  })

  test('a difference counts only with a body, and not where none is expected', () => {
    for (const method of [...PAYLOAD, 'DELETE', 'x']) {
      assert.equal(lengthMismatch(method, 3, 5), true)
      assert.equal(lengthMismatch(method, 3, 3), false)
      assert.equal(lengthMismatch(method, 0, 5), false)
      assert.equal(lengthMismatch(method, null, 5), false)
      assert.equal(lengthMismatch(method, 3, null), false)
    }
    for (const method of BODYLESS) assert.equal(lengthMismatch(method, 3, 5), false)
  })
})
