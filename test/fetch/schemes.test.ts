/** Schemes that are fetched without a network, and schemes that are refused. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import type { RequestInit } from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { failure } from '../support/exchange.ts'

const dispatcher = { dispatch: () => assert.fail('nothing is to be sent') }

async function cause(url: string, init: RequestInit = {}): Promise<string> {
  const error = await failure(fetch(url, { dispatcher, ...init }))
  assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed'])
  return (error.cause as Error).message
}

function blobUrl(t: TestContext, blob: Blob): string {
  const url = URL.createObjectURL(blob)
  t.after(() => URL.revokeObjectURL(url))
  return url
}

describe('a data: URL', () => {
  test('is its own response, for any method', async () => {
    const response = await fetch('data:text/html;charset=x,a%20b#fragment', {
      dispatcher,
      method: 'POST',
      body: 'x',
    })
    const { status, statusText, type, url, redirected } = response
    assert.deepEqual(
      [status, statusText, type, url, redirected],
      [200, 'OK', 'basic', 'data:text/html;charset=x,a%20b', false],
    )
    assert.deepEqual([...response.headers], [['content-type', 'text/html;charset=x']])
    assert.throws(() => response.headers.set('a', 'b'), /immutable/)
    assert.equal(await response.text(), 'a b')
    const plain = await fetch('data:,x', { dispatcher })
    assert.equal(plain.headers.get('content-type'), 'text/plain;charset=US-ASCII')
    assert.equal(await (await fetch('data:;base64,aGk=', { dispatcher })).text(), 'hi')
    assert.equal((await fetch('data:,x', { dispatcher, method: 'HEAD' })).body, null)
  })

  test('that is none', async () => {
    assert.equal(await cause('data:x'), 'failed to fetch the data URL')
    assert.equal(await cause('data:;base64,a'), 'failed to fetch the data URL')
  })
})

describe('a blob: URL', () => {
  test('has the length and the type', async (t) => {
    const url = blobUrl(t, new Blob(['content'], { type: 'text/x' }))
    const response = await fetch(`${url}#fragment`, { dispatcher })
    assert.deepEqual([response.status, response.statusText, response.url], [200, 'OK', url])
    assert.deepEqual(
      [...response.headers],
      [
        ['content-length', '7'],
        ['content-type', 'text/x'],
      ],
    )
    assert.equal(await response.text(), 'content')
    const untyped = await fetch(blobUrl(t, new Blob(['x'], { type: 'nonsense' })), { dispatcher })
    assert.equal(untyped.headers.get('content-type'), '')
  })

  test('ranges', async (t) => {
    const url = blobUrl(t, new Blob(['0123456789']))
    for (const [range, text, content] of [
      ['bytes=2-4', '234', 'bytes 2-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=-20', '0123456789', 'bytes 0-9/10'],
      ['bytes=8-100', '89', 'bytes 8-9/10'],
      ['bytes = 0 - 0', '0', 'bytes 0-0/10'],
      ['bytes=\t 1-2', '12', 'bytes 1-2/10'],
      ['bytes\t=1-2', '12', 'bytes 1-2/10'],
      ['bytes=1 \t-2', '12', 'bytes 1-2/10'],
      ['bytes=1-\t2', '12', 'bytes 1-2/10'],
      ['bytes=9-10', '9', 'bytes 9-9/10'],
      ['bytes=00-01', '01', 'bytes 0-1/10'],
    ] as const) {
      const response = await fetch(url, { dispatcher, headers: { range } })
      assert.deepEqual([response.status, response.statusText], [206, 'Partial Content'], range)
      assert.equal(response.headers.get('content-range'), content)
      assert.equal(response.headers.get('content-length'), String(text.length))
      assert.equal(await response.text(), text)
    }
    const refused =
      'bytes=-;bytes=10-;bytes=4-2;bytes=a;bits=0-1;bytes=0-1,3-4;bytes=0-1, 3-4;bytes=0-1,;bytes;bytes=;bytes=5;bytes5-6;bytes=5-x;bytes=x-6;=5-6;5-6;byte=5-6;bytes=-5-6;bytes=5--6;Bytes=0-1'
    for (const range of refused.split(';')) {
      assert.ok(await cause(url, { headers: { range } }), range)
    }
    const typed = blobUrl(t, new Blob(['0123456789'], { type: 'text/x' }))
    const part = await fetch(typed, { dispatcher, headers: { range: 'bytes=1-2' } })
    assert.equal(part.headers.get('content-type'), 'text/x')
    assert.equal((await part.blob()).type, 'text/x')
  })

  test('not registered, with a query, with another method', async (t) => {
    const url = blobUrl(t, new Blob(['x']))
    for (const [wrong, method] of [
      [`${url}?x`, 'GET'],
      ['blob:nodedata:nothing', 'GET'],
      [url, 'POST'],
      [url, 'HEAD'],
    ] as const) {
      assert.ok(await cause(wrong, { method }))
    }
  })
})

test('what is not fetched', async () => {
  assert.equal(await cause('about:blank'), 'about scheme is not supported')
  assert.equal(await cause('file:///etc/passwd'), 'not implemented... yet...')
  assert.equal(await cause('ftp://a.test/'), 'unknown scheme')
  for (const port of [1, 22, 6667, 10080]) assert.equal(await cause(`http://a.test:${port}/`), 'bad port')
})

test('integrity and signals hold here, too', async (t) => {
  const right = `sha256-${createHash('sha256').update('x').digest('base64')}`
  const wrong = `sha256-${createHash('sha256').update('y').digest('base64')}`
  for (const url of ['data:,x', blobUrl(t, new Blob(['x']))]) {
    assert.equal(await (await fetch(url, { dispatcher, integrity: right })).text(), 'x')
    assert.equal(await cause(url, { integrity: wrong }), 'integrity mismatch')
    const signal = AbortSignal.abort('early')
    assert.equal(await failure(fetch(url, { dispatcher, signal })), 'early' as never)
  }
})

test('what fails at once is rejected when it is returned', async () => {
  const order: string[] = []
  fetch('nonsense').catch(() => order.push('fetch'))
  await Promise.resolve().then(() => order.push('microtask'))
  assert.deepEqual(order, ['fetch', 'microtask'])
})
