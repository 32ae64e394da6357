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

  test('a declared length of a body that is still unknown is kept, 0 too: it is held to while it is sent', () => {
    assert.equal(lengthToSend('GET', null, 0), 0)
    assert.equal(lengthToSend('DELETE', null, 5), 5)
  })

  test('a difference counts with and without a body', () => {
    assert.equal(lengthMismatch(3, 5), true)
    assert.equal(lengthMismatch(0, 5), true)
    assert.equal(lengthMismatch(3, 0), true)
    assert.equal(lengthMismatch(3, 3), false)
    assert.equal(lengthMismatch(0, 0), false)
    assert.equal(lengthMismatch(null, 5), false)
    assert.equal(lengthMismatch(3, null), false)
  })
})
