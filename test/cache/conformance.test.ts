/**
 * Cases of the public cache tests (http-tests/cache-tests) that other caches fail, by their names there, with what this
 * cache does. Those that differ by design say why.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { CacheOptions } from '../../src/cache/options.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import { type Answer, type CachedOrigin, cached, httpDate, installDate } from './support.ts'

const TYPES = ['shared', 'private'] as const
const NOW = Date.UTC(2026, 0, 1)

/** Whether a second request is answered from the store. */
async function reuses(
  t: TestContext,
  headers: HeaderObject,
  options: CacheOptions,
  after = 2_000,
  request: HeaderObject = {},
): Promise<boolean> {
  const clock = installDate(t, NOW)
  const origin = cached({ headers, body: 'x' }, options)
  await origin.get()
  clock.advance(after)
  await origin.get('/', request)
  return origin.received.length === 1
}

/** A stale response, which the origin confirms with these fields. */
async function confirmed(
  t: TestContext,
  stored: HeaderObject,
  news: HeaderObject,
  options: CacheOptions,
): Promise<CachedOrigin> {
  const clock = installDate(t, NOW)
  const control = { 'cache-control': 'max-age=1', etag: '"abcdef"' }
  const origin = cached(
    ({ headers }): Answer =>
      headers['if-none-match'] === undefined
        ? { headers: { ...control, ...stored }, body: 'body' }
        : { status: 304, headers: { ...control, ...news } },
    options,
  )
  await origin.get()
  clock.advance(2_000)
  return origin
}

describe('304-etag-update-response-*: a 304 updates the fields of the stored response', () => {
  const A_DAY = httpDate(NOW + 86_400_000)
  const rows: [name: string, before: string, news: string, result: 'updated' | 'kept' | 'not stored'][] = [
    ['Test-Header', 'A', 'B', 'updated'],
    ['X-Test-Header', 'A', 'B', 'updated'],
    ['Content-Foo', 'A', 'B', 'updated'],
    ['X-Content-Foo', 'A', 'B', 'updated'],
    ['Cache-Control', 'max-age=1', 'max-age=3600', 'updated'],
    ['Content-Location', '/foo', '/bar', 'updated'],
    ['Content-MD5', 'rL0Y20zC+Fzt72VPzMSk2A==', 'N7UdGUp1E+RbVvZSTy1R8g==', 'updated'],
    ['Content-Security-Policy', "default-src 'self'", "default-src 'none'", 'updated'],
    ['Clear-Site-Data', 'cache', 'cookies', 'updated'],
    ['Expires', httpDate(NOW), A_DAY, 'updated'],
    ['Public-Key-Pins', 'A', 'B', 'updated'],
    ['Set-Cookie2', 'a=b', 'a=c', 'updated'],
    ['X-Frame-Options', 'deny', 'sameorigin', 'updated'],
    ['X-XSS-Protection', '1', '1; mode=block', 'updated'],
    // They describe the stored body.
    ['Content-Encoding', 'gzip', 'br', 'kept'],
    ['Content-Length', '4', '36', 'kept'],
    ['Content-Range', 'bytes 0-3/4', 'bytes 0-35/36', 'kept'],
    ['Content-Type', 'text/plain', 'text/plain;charset=utf-8', 'kept'],
    // They belong to one connection, or to one proxy.
    ['Connection', 'A', 'B', 'not stored'],
    ['Keep-Alive', 'A', 'B', 'not stored'],
    ['Proxy-Authenticate', 'A', 'B', 'not stored'],
    ['Proxy-Authentication-Info', 'A', 'B', 'not stored'],
    ['Proxy-Authorization', 'A', 'B', 'not stored'],
    ['Proxy-Connection', 'A', 'B', 'not stored'],
    ['TE', 'A', 'B', 'not stored'],
    ['Transfer-Encoding', 'A', 'B', 'not stored'],
    ['Upgrade', 'A', 'B', 'not stored'],
  ]
  for (const type of TYPES) {
    for (const [title, before, news, result] of rows) {
      test(`${title}: ${result} (${type})`, async (t) => {
        const name = title.toLowerCase()
        const origin = await confirmed(t, { [name]: before }, { [name]: news }, { type })
        const expected = { updated: news, kept: before, 'not stored': undefined }[result]
        for (let i = 0; i < 2; i++) {
          const { status, headers, body } = await origin.get()
          assert.deepEqual([status, headers![name], body], [200, expected, 'body'])
        }
        assert.equal(origin.received.length, 2)
      })
    }
  }

  test('Set-Cookie: updated in a private cache; a shared one does not store it, by design', async (t) => {
    const fields = [{ 'set-cookie': 'a=b' }, { 'set-cookie': 'a=c' }] as const
    const own = await confirmed(t, ...fields, { type: 'private' })
    assert.equal((await own.get()).headers!['set-cookie'], 'a=c')
    const shared = await confirmed(t, ...fields, { type: 'shared' })
    await shared.get()
    assert.equal(shared.received[1]!.headers['if-none-match'], undefined)
  })

  test('ETag: a strong one that differs is about another response, by design', async (t) => {
    const origin = await confirmed(t, {}, { etag: '"ghijkl"' }, {})
    await origin.get()
    assert.equal(origin.received[2]!.headers['if-none-match'], undefined)
  })
})

describe('age-parse-*: the first value counts if it is a number, else none', () => {
  const rows: [name: string, age: string | string[], reused: boolean][] = [
    ['nonnumeric', 'abc', true],
    ['negative', '-7200', true],
    ['float', '7200.0', true],
    ['large', '2147483648', false],
    ['larger', '99999999999999999999', false],
    ['prefix: the first of a list', '7200, 0', false],
    ['suffix: the first of a list', '0, 7200', true],
    ['dup-0: the first of two lines', ['0', '7200'], true],
    ['dup-old: the first of two lines', ['7200', '0'], false],
    ['dup with something else first', ['abc', '7200'], true],
    ['parameter', '7200;foo=bar', true],
    ['numeric-parameter', '7200;foo=111', true],
    ['a number', '7200', false],
    ['a smaller one', '1200', true],
  ]
  for (const type of TYPES) {
    for (const [name, age, reused] of rows) {
      test(`${name}: ${reused ? 'reused' : 'not reused'} (${type})`, async (t) => {
        assert.equal(await reuses(t, { 'cache-control': 'max-age=3600', age }, { type }), reused)
      })
    }
  }
})

describe('conditional-etag-vary-headers', () => {
  for (const type of TYPES) {
    test(`a conditional request has the fields that the stored response depends on (${type})`, async (t) => {
      const clock = installDate(t, NOW)
      const origin = cached(
        ({ headers }): Answer =>
          headers['if-none-match'] === undefined
            ? { headers: { 'cache-control': 'max-age=1', etag: '"1"', vary: 'Abc' }, body: 'body' }
            : { status: 304, headers: { vary: 'Abc' } },
        { type },
      )
      await origin.get('/', { abc: '123' })
      clock.advance(2_000)
      const { status, body } = await origin.get('/', { abc: '123' })
      assert.deepEqual([status, body], [200, 'body'])
      assert.deepEqual(origin.received[1]!.headers, {
        abc: '123',
        'if-none-match': '"1"',
      })
      // Another value is another response.
      await origin.get('/', { abc: '456' })
      assert.deepEqual(origin.received[2]!.headers, { abc: '456' })
    })
  }
})

describe('freshness-max-age-s-maxage-private*, headers-store-Set-Cookie', () => {
  for (const control of [
    'max-age=3600, s-maxage=1',
    's-maxage=1, max-age=3600',
    's-maxage=1, s-maxage=2, max-age=3600',
  ]) {
    test(`${control}: a private cache takes max-age; a shared one s-maxage, by design`, async (t) => {
      assert.equal(await reuses(t, { 'cache-control': control }, { type: 'private' }, 3_000), true)
      assert.equal(await reuses(t, { 'cache-control': control }, { type: 'shared' }, 3_000), false)
    })
  }

  test('Set-Cookie: stored by a private cache; not by a shared one, by design', async (t) => {
    const headers = { 'cache-control': 'max-age=3600', 'set-cookie': 'a=b' }
    assert.equal(await reuses(t, headers, { type: 'private' }), true)
    assert.equal(await reuses(t, headers, { type: 'shared' }), false)
  })
})

describe('partial-*', () => {
  const whole = { 'cache-control': 'max-age=3600', etag: '"1"' }
  for (const [name, range, part] of [
    ['partial-store-complete-reuse-partial', 'bytes=2-4', '234'],
    ['partial-store-complete-reuse-partial-no-last', 'bytes=5-', '56789'],
    ['partial-store-complete-reuse-partial-suffix', 'bytes=-1', '9'],
  ] as const) {
    test(`${name}: cut from the stored response`, async (t) => {
      installDate(t, NOW)
      const origin = cached({ headers: whole, body: '0123456789' })
      await origin.get()
      const { status, body } = await origin.get('/', { range })
      assert.deepEqual([status, body, origin.received.length], [206, part, 1])
    })
  }

  test('partial-store-partial-*: a 206 is not stored, by design', async (t) => {
    installDate(t, NOW)
    const headers = { ...whole, 'content-range': 'bytes 0-4/10', 'content-length': '5' }
    const origin = cached({ status: 206, headers, body: '01234' })
    for (let i = 0; i < 2; i++) await origin.get('/', { range: 'bytes=0-4' })
    assert.equal(origin.received.length, 2)
  })
})

describe('single cases', () => {
  for (const type of TYPES) {
    test(`cc-resp-immutable-fresh: not confirmed while it is fresh (${type})`, async (t) => {
      const headers = { 'cache-control': 'max-age=3600, immutable', etag: '"1"' }
      assert.equal(await reuses(t, headers, { type }, 2_000, { 'cache-control': 'max-age=0' }), true)
    })

    test(`cc-resp-immutable-stale: confirmed when it is stale (${type})`, async (t) => {
      const headers = { 'cache-control': 'max-age=1, immutable', etag: '"1"' }
      assert.equal(await reuses(t, headers, { type }, 2_000), false)
    })

    test(`status-200-must-understand: stored, in spite of no-store (${type})`, async (t) => {
      const headers = { 'cache-control': 'max-age=3600, no-store, must-understand' }
      assert.equal(await reuses(t, headers, { type }), true)
    })

    test(`status-599-must-understand: not stored (${type})`, async (t) => {
      installDate(t, NOW)
      const headers = { 'cache-control': 'max-age=3600, must-understand' }
      const origin = cached({ status: 599, headers, body: 'x' }, { type })
      for (let i = 0; i < 2; i++) await origin.get()
      assert.equal(origin.received.length, 2)
    })
  }
})
