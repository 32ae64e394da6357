/** The class `Response`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { Headers, Response } from '../../src/index.ts'

describe('a response', () => {
  test('has its defaults', () => {
    const { type, url, redirected, status, ok, statusText, body, bodyUsed } = new Response()
    assert.deepEqual(
      [type, url, redirected, status, ok, statusText, body, bodyUsed],
      ['default', '', false, 200, true, '', null, false],
    )
    assert.ok(new Response().headers instanceof Headers)
  })

  test('keeps what it is told', () => {
    const response = new Response('x', { status: 404, statusText: 'Nö', headers: { a: 'b' } })
    const { status, ok, statusText, headers } = response
    assert.deepEqual([status, ok, statusText], [404, false, 'Nö'])
    assert.deepEqual(
      [...headers],
      [
        ['a', 'b'],
        ['content-type', 'text/plain;charset=UTF-8'],
      ],
    )
    assert.equal(new Response('x', { headers: { 'Content-Type': 'a/b' } }).headers.get('content-type'), 'a/b')
    response.headers.set('a', 'c')
    assert.equal(response.headers.get('a'), 'c')
    assert.equal(new Response(null, null as never).status, 200)
    assert.equal(new Response(undefined, { status: 204 }).status, 204)
  })

  test('is refused what cannot be', () => {
    const range = 'init["status"] must be in the range of 200 to 599, inclusive.'
    for (const status of [100, 199, 600, Number.NaN, 'x']) {
      assert.throws(() => new Response('', { status: status as number }), {
        name: 'RangeError',
        message: range,
      })
    }
    assert.equal(new Response('', { status: 65536 + 201 }).status, 201)
    for (const statusText of ['a\nb', 'a\0']) {
      assert.throws(() => new Response('', { statusText }), {
        name: 'TypeError',
        message: 'Invalid statusText',
      })
    }
    assert.throws(() => new Response('', { statusText: '€' }), /ByteString/)
    for (const status of [204, 205, 304]) {
      const message = `Response constructor: Invalid response status code ${status}`
      assert.throws(() => new Response('x', { status }), { name: 'TypeError', message })
      assert.throws(() => Response.json(1, { status }), { name: 'TypeError', message })
    }
    assert.throws(() => new Response('x', 1 as never), /Expected 1 to be one of: Null, Undefined, Object\./)
    assert.throws(() => new Response(Symbol('x') as never), {
      message: 'Response: body is a symbol, which cannot be converted to a DOMString.',
    })
    const locked = new ReadableStream()
    locked.getReader()
    const disturbed = new ReadableStream()
    void disturbed.cancel()
    for (const used of [locked, disturbed]) {
      assert.throws(() => new Response(used), {
        message: 'Response body object should not be disturbed or locked',
      })
    }
  })

  test('error(), json() and redirect()', async () => {
    const error = Response.error()
    assert.deepEqual([error.type, error.status, error.ok, error.body], ['error', 0, false, null])
    assert.throws(() => error.headers.append('a', 'b'), { name: 'TypeError', message: 'immutable' })
    const json = Response.json({ a: 1 }, { status: 201 })
    assert.equal(json.headers.get('content-type'), 'application/json')
    assert.deepEqual([json.status, await json.json()], [201, { a: 1 }])
    assert.equal(Response.json(1, { headers: { 'content-type': 'a/b' } }).headers.get('content-type'), 'a/b')
    const redirect = Response.redirect('http://a.test/x', 308)
    assert.deepEqual([redirect.status, redirect.headers.get('location')], [308, 'http://a.test/x'])
    assert.equal(Response.redirect(new URL('http://a.test')).status, 302)
    assert.equal(Response.redirect('http://a.test', '307' as never).status, 307)
    assert.throws(() => redirect.headers.set('a', 'b'), /immutable/)
    assert.throws(() => Response.redirect('nope'), {
      name: 'TypeError',
      message: 'Failed to parse URL from nope',
    })
    assert.throws(() => Response.redirect('http://a.test', 200), {
      name: 'RangeError',
      message: 'Invalid status code 200',
    })
    for (const value of [undefined, Symbol('x'), () => {}]) {
      assert.throws(() => Response.json(value), { message: 'Value is not JSON serializable' })
    }
    assert.throws(() => (Response.json as unknown as () => void)(), {
      message: 'Response.json: 1 argument required, but 0 found.',
    })
    assert.throws(() => (Response.redirect as unknown as () => void)(), {
      message: 'Response.redirect: 1 argument required, but 0 found.',
    })
  })

  test('a clone has headers of its own', async () => {
    const response = new Response('x', { status: 201, headers: { a: '1' } })
    const clone = response.clone()
    clone.headers.set('a', '2')
    assert.deepEqual([response.headers.get('a'), clone.headers.get('a'), clone.status], ['1', '2', 201])
    assert.deepEqual([await response.text(), await clone.text()], ['x', 'x'])
    assert.throws(() => response.clone(), {
      name: 'TypeError',
      message: 'Response.clone: Body has already been consumed.',
    })
    const locked = new Response('x')
    locked.body!.getReader()
    assert.throws(() => locked.clone(), /already been consumed/)
    assert.equal(Response.error().clone().type, 'error')
    assert.throws(() => Response.error().clone().headers.set('a', 'b'), /immutable/)
  })

  test('console.log shows it', () => {
    assert.equal(
      inspect(new Response('x')),
      `Response {
  status: 200,
  statusText: '',
  headers: Headers { 'content-type': 'text/plain;charset=UTF-8' },
  body: ReadableStream { locked: false, state: 'readable', supportsBYOB: true },
  bodyUsed: false,
  ok: true,
  redirected: false,
  type: 'default',
  url: ''
}`,
    )
  })
})
