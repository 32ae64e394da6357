/** Attacks on the cache, and on what one user sees of another. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CacheOptions } from '../../src/cache/options.ts'
import { MemoryCacheStore } from '../../src/cache/store/memory-store.ts'
import { type Answer, cached, installDate } from './support.ts'

/** Whether user 2 gets the page of user 1. */
async function leaks(
  control: Record<string, string | string[]>,
  credentials: (user: string) => Record<string, string>,
  options: CacheOptions = {},
): Promise<boolean> {
  const origin = cached(({ headers }) => ({ headers: control, body: JSON.stringify(headers) }), options)
  const first = await origin.get('/', credentials('alice'))
  const second = await origin.get('/', credentials('bob'))
  return second.body === first.body
}

const authorization = (user: string): Record<string, string> => ({ authorization: `Basic ${user}` })
const cookie = (user: string): Record<string, string> => ({ cookie: `session=${user}` })

describe('security 1: two users', () => {
  const rows: [
    title: string,
    leak: boolean,
    headers: Record<string, string>,
    as: typeof cookie,
    options?: CacheOptions,
  ][] = [
    ['authorization, max-age', false, { 'cache-control': 'max-age=60' }, authorization],
    [
      'authorization, last-modified',
      false,
      { 'last-modified': 'Sun, 06 Nov 1994 08:49:37 GMT' },
      authorization,
    ],
    ['authorization, public', true, { 'cache-control': 'public, max-age=60' }, authorization],
    ['authorization, s-maxage', true, { 'cache-control': 's-maxage=60' }, authorization],
    [
      'authorization, public, vary',
      false,
      { 'cache-control': 'public, max-age=60', vary: 'authorization' },
      authorization,
    ],
    ['cookie, max-age: as RFC 9111 allows', true, { 'cache-control': 'max-age=60' }, cookie],
    ['cookie, vary', false, { 'cache-control': 'max-age=60', vary: 'cookie' }, cookie],
    ['cookie, private', false, { 'cache-control': 'private, max-age=60' }, cookie],
    ['cookie, malformed private', false, { 'cache-control': 'private;, max-age=60' }, cookie],
    ['cookie, set-cookie', false, { 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }, cookie],
    [
      'cookie, partition',
      false,
      { 'cache-control': 'max-age=60' },
      cookie,
      { partition: (opts) => String((opts.headers as Record<string, string>)['cookie']) },
    ],
    [
      'private cache of one user, authorization',
      true,
      { 'cache-control': 'max-age=60' },
      authorization,
      { type: 'private' },
    ],
    [
      'private cache, vary',
      false,
      { 'cache-control': 'private, max-age=60', vary: 'authorization' },
      authorization,
      { type: 'private' },
    ],
  ]
  for (const [title, leak, headers, as, options] of rows) {
    test(`${title}: ${leak ? 'one page' : 'two pages'}`, async () =>
      assert.equal(await leaks(headers, as, options), leak))
  }

  test('collapsed requests with credentials are never shared', async () => {
    const origin = cached(
      ({ headers }) => ({
        headers: { 'cache-control': 'max-age=60' },
        body: String(headers['authorization']),
      }),
      {
        collapse: true,
      },
    )
    const [a, b] = await Promise.all([
      origin.get('/', authorization('alice')),
      origin.get('/', authorization('bob')),
    ])
    assert.deepEqual([a.body, b.body], ['Basic alice', 'Basic bob'])
  })

  test('collapsed requests with cookies are shared only as stored responses are', async () => {
    for (const [headers, shared] of [
      [{ 'cache-control': 'private, max-age=60' }, false],
      [{ 'cache-control': 'max-age=60', vary: 'cookie' }, false],
      [{ 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }, false],
      [{ 'cache-control': 'max-age=60' }, true],
    ] as const) {
      const origin = cached(({ headers: sent }) => ({ headers, body: String(sent['cookie']) }), {
        collapse: true,
      })
      const [a, b] = await Promise.all([origin.get('/', cookie('alice')), origin.get('/', cookie('bob'))])
      assert.equal(a.body === b.body, shared, JSON.stringify(headers))
    }
  })
})

describe('security 3: hostile Cache-Control', () => {
  const stored = async (control: string | string[]): Promise<boolean> => {
    const store = new MemoryCacheStore()
    await cached({ headers: { 'cache-control': control }, body: 'x' }, { store }).get()
    return store.size > 0
  }
  test('split over lines', async () => {
    assert.equal(await stored(['max-age=60', 'no-store']), false)
    assert.equal(await stored(['max-age=60', 'private']), false)
    assert.equal(await stored(['public', 'max-age=60']), true)
  })
  test('a no-store after a broken quote', async () => {
    assert.equal(await stored('max-age=60, x="a, no-store'), false)
    assert.equal(await stored('max-age=60, x="\\", no-store'), false)
    assert.equal(await stored(['max-age=60, x="', 'no-store']), false)
  })
  test('whitespace, semicolons, controls', async () => {
    for (const text of [
      'max-age=60 no-store',
      'max-age=60; private',
      'private\t, max-age=60',
      ' ,, no-store ,',
      'NO-STORE, max-age=60',
    ]) {
      assert.equal(await stored(text), false, text)
    }
  })
  test('64 KiB', async () => {
    assert.equal(await stored(`${'x,'.repeat(32_000)}max-age=60`), true)
    assert.equal(await stored(`max-age=60,${'x="'.repeat(20_000)},no-store`), false)
  })
})

describe('security 4: floods', () => {
  test('a vary bomb', async () => {
    const store = new MemoryCacheStore()
    const vary = Array.from({ length: 10_000 }, (_, i) => `x-${i}`)
    await cached({ headers: { 'cache-control': 'max-age=60', vary }, body: 'x' }, { store }).get()
    assert.equal(store.size, 0)
  })

  test('10^5 queries stay within the limits', async () => {
    const store = new MemoryCacheStore()
    const origin = cached({ headers: { 'cache-control': 'max-age=60' }, body: 'x' }, { store })
    for (let i = 0; i < 100_000; i += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, j) => origin.get(`/?${i + j}`)))
    }
    assert.equal(origin.received.length, 100_000)
    assert.ok(store.size < 1024 * 1000)
  })

  test('__proto__ and constructor as header and vary names', async () => {
    const headers = JSON.parse(
      '{"cache-control":"max-age=60","vary":"__proto__, constructor","__proto__":"own","constructor":"own"}',
    )
    const origin = cached({ headers, body: 'x' })
    await origin.get()
    const hit = await origin.get()
    assert.equal(origin.received.length, 1)
    assert.equal(Object.getOwnPropertyDescriptor(hit.headers, '__proto__')?.value, 'own')
    assert.equal(Object.getPrototypeOf(hit.headers), Object.prototype)
    await origin.get('/', {}, { headers: ['__proto__', '1'] })
    await origin.get('/', {}, { headers: ['constructor', '1'] })
    assert.equal(origin.received.length, 3)
    await origin.get('/', {}, { headers: ['__proto__', '1'] })
    assert.equal(origin.received.length, 3)
    assert.equal(({} as Record<string, unknown>)['own'], undefined)
  })
})

describe("security 5: stale responses against the origin's will", () => {
  for (const control of [
    'max-age=10, must-revalidate',
    's-maxage=10',
    'max-age=10, proxy-revalidate',
    'no-cache',
  ]) {
    for (const request of [
      'max-stale',
      'max-stale=9999',
      'stale-if-error=9999',
      'only-if-cached, max-stale',
    ]) {
      test(`${control} against ${request}`, async (t) => {
        const clock = installDate(t)
        let answer: Answer = { headers: { 'cache-control': control, etag: '"1"' }, body: 'old' }
        const origin = cached(() => answer, { staleIfError: 9_999_999 })
        await origin.get()
        clock.advance(11_000)
        answer = { status: 503, body: 'down' }
        const { body, status } = await origin.get('/', { 'cache-control': request })
        assert.notEqual(body, 'old')
        assert.ok(status === 503 || status === 504)
      })
    }
  }

  test('set-cookie of a confirmed response does not reach others', async (t) => {
    const clock = installDate(t)
    let answer: Answer = { headers: { 'cache-control': 'max-age=10', etag: '"1"' }, body: 'page' }
    const origin = cached(() => answer)
    await origin.get()
    clock.advance(11_000)
    answer = { status: 304, headers: { 'set-cookie': 'session=alice' } }
    await origin.get()
    answer = { headers: { 'cache-control': 'max-age=10' }, body: 'page' }
    for (let i = 0; i < 2; i++) assert.equal((await origin.get()).headers!['set-cookie'], undefined)
  })
})

test('an origin cannot remove what another one has stored', async () => {
  const origin = cached(({ method }) =>
    method === 'POST'
      ? { status: 201, headers: { location: 'http://victim.test/', 'content-location': '//victim.test/' } }
      : { headers: { 'cache-control': 'max-age=60' }, body: 'x' },
  )
  await origin.get('/', {}, { origin: 'http://victim.test' })
  await origin.get('/', {}, { origin: 'http://evil.test', method: 'POST' })
  await origin.get('/', {}, { origin: 'http://victim.test' })
  assert.equal(origin.received.length, 2)
})
