/** Whether and how a stored response answers: directives, conditions and ranges of the request, failures of the origin. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import { type Answer, cached, httpDate, installDate } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)

function page(control: string, more: HeaderObject = {}): Answer {
  return { headers: { 'cache-control': control, ...more }, body: 'hello world' }
}

describe('a request', () => {
  const rows: [title: string, stored: string, after: number, request: HeaderObject, sent: boolean][] = [
    ['with Pragma: No-Cache', 'max-age=10', 0, { pragma: 'No-Cache' }, true],
    ['with another pragma', 'max-age=10', 0, { pragma: 'x' }, false],
    ['with a qualified no-cache', 'max-age=10', 0, { 'cache-control': 'no-cache="x"' }, true],
    [
      'with max-age=5, of an immutable response',
      'max-age=10, immutable',
      6,
      { 'cache-control': 'max-age=5' },
      true,
    ],
  ]
  for (const [title, stored, after, request, sent] of rows) {
    test(`${title}: ${sent ? 'sent' : 'answered'}`, async (t) => {
      const clock = installDate(t, NOW)
      const origin = cached(page(stored))
      await origin.get()
      clock.advance(after * 1000)
      await origin.get('/', request)
      assert.equal(origin.received.length, sent ? 2 : 1)
    })
  }

  test('after the clock was set back a little gets no negative age', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(page('max-age=10'))
    await origin.get()
    clock.advance(-1000)
    assert.equal((await origin.get()).headers!['age'], '0')
    assert.equal(origin.received.length, 1)
  })

  for (const [after, reason] of [
    [5, 'request'],
    [11, 'stale'],
  ] as const) {
    for (const control of ['no-cache', 'max-age=1', 'min-fresh=9']) {
      test(`with ${control} after ${after} s is forwarded as ${reason}`, async (t) => {
        const clock = installDate(t, NOW)
        const origin = cached(page('max-age=10', { etag: '"1"' }), { cacheStatus: 'app' })
        await origin.get()
        clock.advance(after * 1000)
        const { headers } = await origin.get('/', { 'cache-control': control })
        assert.equal(headers!['cache-status'], `app; fwd=${reason}; ttl=10; stored`)
      })
    }
  }
})

describe('a stored response and an origin that fails', () => {
  const rows: [title: string, stored: string, after: number, request: HeaderObject][] = [
    ['a fresh one without stale-if-error', 'max-age=10', 5, { 'cache-control': 'max-age=0' }],
    ['one with no-cache, although it has stale-if-error', 'no-cache, stale-if-error=60', 5, {}],
  ]
  for (const [title, stored, after, request] of rows) {
    test(`${title}: the caller gets the failure`, async (t) => {
      const clock = installDate(t, NOW)
      let answer = page(stored, { etag: '"1"' })
      const origin = cached(() => answer)
      await origin.get()
      clock.advance(after * 1000)
      answer = { status: 503, body: 'down' }
      const { status, body } = await origin.get('/', request)
      assert.deepEqual([status, body], [503, 'down'])
    })
  }
})

describe('a stored response and an answer that cannot be stored', () => {
  for (const [status, dropped] of [
    [200, true],
    [302, true],
    [404, true],
    [410, true],
    [400, false],
    [403, false],
    [429, false],
    [500, false],
  ] as const) {
    test(`${status}: ${dropped ? 'dropped' : 'kept'}`, async (t) => {
      const clock = installDate(t, NOW)
      let answer = page('max-age=10', { etag: '"1"' })
      const origin = cached(() => answer)
      await origin.get()
      clock.advance(11_000)
      answer = { status, headers: { 'cache-control': 'no-store' }, body: 'new' }
      assert.equal((await origin.get()).status, status)
      await origin.get('/', { 'cache-control': 'max-stale' })
      assert.equal(origin.received.length, dropped ? 3 : 2)
    })
  }
})

describe('conditions and ranges', () => {
  for (const request of [
    { 'if-none-match': '"1"' },
    { 'if-modified-since': httpDate(NOW) },
    { range: 'bytes=0-4' },
    { range: 'bytes=99-' },
  ] as HeaderObject[]) {
    test(`${JSON.stringify(request)} is ignored for a stored 404`, async (t) => {
      installDate(t, NOW)
      const validators = { etag: '"1"', 'last-modified': httpDate(NOW - 60_000) }
      const origin = cached({ ...page('max-age=10', validators), status: 404 })
      await origin.get()
      const { status, body } = await origin.get('/', request)
      assert.deepEqual([status, body, origin.received.length], [404, 'hello world', 1])
    })
  }

  test('a range is ignored for HEAD', async (t) => {
    installDate(t, NOW)
    const origin = cached(page('max-age=10', { 'content-length': '11' }), { methods: ['GET', 'HEAD'] })
    await origin.get()
    const { status, headers } = await origin.get('/', { range: 'bytes=0-4' }, { method: 'HEAD' })
    assert.deepEqual([status, headers!['content-length'], origin.received.length], [200, '11', 1])
  })

  test('a range that cannot be satisfied gets the date of the stored response', async (t) => {
    installDate(t, NOW)
    const origin = cached(page('max-age=10', { date: httpDate(NOW), etag: '"1"' }))
    await origin.get()
    const { status, headers } = await origin.get('/', { range: 'bytes=11-' })
    assert.equal(status, 416)
    assert.deepEqual(headers, {
      'content-range': 'bytes */11',
      'content-length': '0',
      date: httpDate(NOW),
      age: '0',
    })
  })
})
