/** The web classes under our names, and the global origin. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  FormData,
  getGlobalOrigin,
  Headers,
  Request,
  Response,
  setGlobalOrigin,
} from '../../src/fetch/index.ts'

describe('classes', () => {
  test('make what the runtime makes', async () => {
    const headers = new Headers({ a: 'b' })
    assert.ok(headers instanceof globalThis.Headers)
    assert.ok(headers instanceof Headers)
    assert.ok(new globalThis.Headers() instanceof Headers)
    assert.equal({} instanceof Headers, false)
    const response = Response.json({ a: 1 })
    assert.ok(response instanceof Response)
    assert.deepEqual(await response.json(), { a: 1 })
    assert.equal(new Response('x', { status: 201 }).status, 201)
    const form = new FormData()
    form.append('a', 'b')
    assert.equal(form.get('a'), 'b')
    assert.equal('error' in Response, true)
    assert.equal(Headers.name, 'Headers')
  })

  test("a request is one of the runtime's", () => {
    const request = new Request('http://a.test', { method: 'POST', body: 'x' })
    assert.ok(request instanceof globalThis.Request)
    assert.ok(request instanceof Request)
    assert.equal(request.method, 'POST')
    const copy = request.clone()
    assert.ok(copy instanceof Request)
    assert.equal(copy.method, 'POST')
    assert.equal(Request.name, 'Request')
    assert.throws(() => new Request('nonsense'), TypeError)
  })

  test('can be extended', () => {
    class Mine extends Headers {
      get answer(): number {
        return 42
      }
    }
    const mine = new Mine({ a: 'b' })
    assert.ok(mine instanceof Headers)
    assert.deepEqual([mine.answer, mine.get('a')], [42, 'b'])
    class MyRequest extends Request {}
    assert.ok(new MyRequest('http://a.test') instanceof Request)
  })
})

describe('the global origin', () => {
  test('set, read and cleared', (t) => {
    t.after(() => setGlobalOrigin(undefined))
    assert.equal(getGlobalOrigin(), undefined)
    setGlobalOrigin('http://a.test/base')
    assert.equal(String(getGlobalOrigin()), 'http://a.test/base')
    setGlobalOrigin(new URL('https://b.test'))
    assert.equal(getGlobalOrigin()?.host, 'b.test')
    assert.throws(() => setGlobalOrigin('ftp://a.test'), TypeError)
    setGlobalOrigin(undefined)
    assert.equal(getGlobalOrigin(), undefined)
  })
})
