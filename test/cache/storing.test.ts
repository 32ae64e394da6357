/** Which responses are stored, and for how long. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CacheOptions } from '../../src/cache/options.ts'
import { MemoryCacheStore } from '../../src/cache/store/memory-store.ts'
import { type Answer, assertFreshFor, cached, httpDate, installDate, ORIGIN, settle } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)
const MODIFIED = httpDate(NOW - 1_000_000)

interface Row {
  readonly title: string
  readonly answer: Answer
  readonly options?: CacheOptions
  readonly request?: Record<string, string>
  readonly stored: boolean
}

/** Stored: the second request is a hit, or a conditional one. */
function row({ title, answer, options, request = {}, stored }: Row): void {
  test(`${title}: ${stored ? 'stored' : 'not stored'}`, async (t) => {
    installDate(t, NOW)
    const store = new MemoryCacheStore()
    const origin = cached({ body: 'x', ...answer }, { store, ...options })
    const first = await origin.get('/', request)
    assert.equal(first.body, answer.body ?? 'x')
    assert.equal(
      store.get({ origin: 'http://origin.test', method: 'GET', path: '/', headers: request }) !== undefined,
      stored,
    )
  })
}

function control(value: string, more: object = {}): Answer {
  return { headers: { 'cache-control': value, ...more } }
}

describe('stored or not', () => {
  const rows: Row[] = [
    { title: 'max-age', answer: control('max-age=60'), stored: true },
    { title: '206', answer: { status: 206, ...control('max-age=60') }, stored: false },
    {
      title: '304 without a stored response',
      answer: { status: 304, ...control('max-age=60') },
      stored: false,
    },
    { title: 'no-store', answer: control('no-store, max-age=60'), stored: false },
    {
      title: 'must-understand, no-store',
      answer: control('must-understand, no-store, max-age=60'),
      stored: true,
    },
    {
      title: 'must-understand with a status that is not understood',
      answer: { status: 299, ...control('must-understand, max-age=60') },
      stored: false,
    },
    { title: 'private', answer: control('private, max-age=60'), stored: false },
    {
      title: 'private in a private cache',
      answer: control('private, max-age=60'),
      options: { type: 'private' },
      stored: true,
    },
    { title: 'qualified private', answer: control('private="x", max-age=60', { x: '1' }), stored: true },
    { title: 'set-cookie', answer: control('max-age=60', { 'set-cookie': 'a=b' }), stored: false },
    {
      title: 'set-cookie that private names',
      answer: control('max-age=60, private="set-cookie"', { 'set-cookie': 'a=b' }),
      stored: false,
    },
    {
      title: 'set-cookie in a private cache',
      answer: control('max-age=60', { 'set-cookie': 'a=b' }),
      options: { type: 'private' },
      stored: true,
    },
    { title: 'vary: *', answer: control('max-age=60', { vary: 'accept, *' }), stored: false },
    { title: 'a malformed vary', answer: control('max-age=60', { vary: 'accept encoding' }), stored: false },
    { title: 'vary with empty members', answer: control('max-age=60', { vary: ',accept,' }), stored: true },
    { title: 'authorization', answer: control('max-age=60'), request: { authorization: 'a' }, stored: false },
    ...['public, max-age=60', 's-maxage=60', 'must-revalidate, max-age=60'].map((value) => ({
      title: `authorization and ${value}`,
      answer: control(value),
      request: { authorization: 'a' },
      stored: true,
    })),
    {
      title: 'authorization in a private cache',
      answer: control('max-age=60'),
      request: { authorization: 'a' },
      options: { type: 'private' },
      stored: true,
    },
    { title: 'no lifetime at all', answer: {}, stored: false },
    { title: 'an ETag alone', answer: { headers: { etag: '"1"' } }, stored: false },
    { title: 'expires', answer: { headers: { expires: httpDate(NOW + 60_000) } }, stored: true },
    { title: 'last-modified', answer: { headers: { 'last-modified': MODIFIED } }, stored: true },
    { title: 'cacheByDefault', answer: {}, options: { cacheByDefault: 1000 }, stored: true },
    { title: 'public without a lifetime', answer: control('public'), stored: false },
    { title: 'public with a validator', answer: control('public', { etag: '"1"' }), stored: true },
    { title: 'no-cache without a validator', answer: control('no-cache'), stored: false },
    { title: 'no-cache with a validator', answer: control('no-cache', { etag: '"1"' }), stored: true },
    { title: 'max-age=0 with a validator', answer: control('max-age=0', { etag: '"1"' }), stored: true },
    { title: 'max-age=0 without', answer: control('max-age=0'), stored: false },
    { title: 'immutable alone', answer: control('immutable'), stored: true },
    ...[200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map((status) => ({
      title: `${status} with last-modified`,
      answer: { status, headers: { 'last-modified': MODIFIED } },
      stored: true,
    })),
    ...[201, 302, 303, 307, 400, 403, 500, 503].map((status) => ({
      title: `${status} with last-modified`,
      answer: { status, headers: { 'last-modified': MODIFIED } },
      stored: false,
    })),
    ...[201, 302, 307, 403, 500, 503, 599].map((status) => ({
      title: `${status} with max-age`,
      answer: { status, ...control('max-age=60') },
      stored: true,
    })),
    {
      title: '302 with expires',
      answer: { status: 302, headers: { expires: httpDate(NOW + 60_000) } },
      stored: true,
    },
    { title: '302 with s-maxage', answer: { status: 302, ...control('s-maxage=60') }, stored: true },
    {
      title: '302 with s-maxage in a private cache',
      answer: { status: 302, ...control('s-maxage=60') },
      options: { type: 'private' },
      stored: false,
    },
    {
      title: '302 with public and a validator',
      answer: { status: 302, ...control('public', { etag: '"1"' }) },
      stored: true,
    },
    {
      title: '302 with private and a validator in a private cache',
      answer: { status: 302, ...control('private', { etag: '"1"' }) },
      options: { type: 'private' },
      stored: true,
    },
    {
      title: '302 with a validator alone in a private cache',
      answer: { status: 302, ...control('must-revalidate', { etag: '"1"' }) },
      options: { type: 'private' },
      stored: false,
    },
    {
      title: '302 with cacheByDefault',
      answer: { status: 302 },
      options: { cacheByDefault: 1000 },
      stored: false,
    },
    { title: 'a malformed date', answer: control('max-age=60', { date: 'today' }), stored: true },
    {
      title: 'expires with a malformed date',
      answer: { headers: { date: 'today', expires: httpDate(NOW + 60_000) } },
      stored: true,
    },
    ...[
      'public private',
      'must-revalidate;',
      'a b',
      '"x"',
      '=5',
      'x="',
      'x="a, y',
      'x=a"b',
      '\xa0public',
      'public\xa0',
      'public\x0c',
      'max-age =5',
    ].map((value) => ({
      title: `max-age=60 beside ${JSON.stringify(value)}`,
      answer: control(`max-age=60, ${value}`),
      stored: false,
    })),
    ...['x="a, b"', 'x=a;b', 'x=', ', ,\tx', 'X="\\\\"'].map((value) => ({
      title: `max-age=60 beside ${JSON.stringify(value)}`,
      answer: control(`max-age=60, ${value}`),
      stored: true,
    })),
    ...[
      'public=, max-age=60',
      'public=1, max-age=60',
      'public="", max-age=60',
      'public, public=, max-age=60',
      'public=1, public, max-age=60',
      'must-revalidate=, max-age=60',
      'must-revalidate, must-revalidate=1, max-age=60',
      's-maxage=x, max-age=60',
      's-maxage=60, s-maxage=',
      's-maxage, max-age=60',
      'public, max-age=60, no-cache="authorization"',
      'public, max-age=60, private="x, Authorization"',
    ].map((value) => ({
      title: `authorization and ${value}`,
      answer: control(value, { etag: '"1"' }),
      request: { authorization: 'a' },
      stored: false,
    })),
    {
      title: 'must-understand=1 beside no-store',
      answer: control('must-understand=1, no-store, max-age=60'),
      stored: false,
    },
    { title: 'immutable with an argument', answer: control('immutable=1'), stored: false },
    {
      title: 'a repeated date',
      answer: control('max-age=60', { date: [httpDate(NOW), httpDate(NOW)] }),
      stored: false,
    },
    { title: 'a malformed age', answer: control('max-age=60', { age: 'x' }), stored: true },
    { title: 'a lifetime that is used up', answer: control('max-age=60', { age: '60' }), stored: false },
    {
      title: 'used up, with a validator',
      answer: control('max-age=60', { age: '60', etag: '"1"' }),
      stored: true,
    },
    { title: 'max-age with spaces', answer: control('max-age = 60'), stored: false },
    {
      title: 'a body that fails',
      answer: { status: 200, ...control('max-age=60'), error: new Error('cut') },
      stored: false,
    },
    {
      title: 'a body that is shorter than announced',
      answer: control('max-age=60', { 'content-length': '5' }),
      stored: false,
    },
    {
      title: 'a body over the limit',
      answer: { ...control('max-age=60'), body: 'x'.repeat(5_242_881) },
      stored: false,
    },
  ]
  for (const one of rows) row(one)

  test('an aborted response is not stored', async (t) => {
    installDate(t, NOW)
    const store = new MemoryCacheStore()
    const origin = cached({ ...control('max-age=60'), body: ['a', 'b'] }, { store })
    const { dispatch } = origin
    const { RecordingHandler } = await import('../support/recording-handler.ts')
    const handler = new RecordingHandler({
      onResponseData: (controller) => controller.abort(new Error('enough')),
    })
    dispatch({ origin: 'http://origin.test', path: '/', method: 'GET' }, handler)
    await handler.settled
    assert.equal(handler.error?.message, 'enough')
    await settle()
    assert.equal(store.size, 0)
  })

  for (const answer of [
    control('private, max-age=9'),
    control('max-age=9', { 'set-cookie': 'a=b' }),
    control('max-age=9', { vary: '*' }),
  ]) {
    test(`${JSON.stringify(answer.headers)} of one variant drops the others`, async (t) => {
      installDate(t, NOW)
      let next: Answer = control('max-age=60', { vary: 'accept' })
      const origin = cached(() => next)
      await origin.get('/', { accept: 'a' })
      next = answer
      await origin.get('/', { accept: 'b' })
      next = control('max-age=60')
      await origin.get('/', { accept: 'a' })
      assert.equal(origin.received.length, 3)
    })

    test(`${JSON.stringify(answer.headers)} drops what is stored`, async (t) => {
      installDate(t, NOW)
      const store = new MemoryCacheStore()
      let next: Answer = control('max-age=60')
      const origin = cached(() => next, { store })
      await origin.get()
      next = answer
      await origin.get('/', { 'cache-control': 'no-cache' })
      assert.equal(store.size, 0)
    })
  }
})

describe('a response to the conditions or the range of one request', () => {
  for (const [status, headers] of [
    [416, { range: 'bytes=100-' }],
    [412, { 'if-match': '"1"' }],
    [412, { 'if-none-match': '*' }],
    [412, { 'if-unmodified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' }],
  ] as const) {
    test(`${status} for ${Object.keys(headers)} does not answer a request without`, async (t) => {
      installDate(t, NOW)
      const origin = cached(({ headers: sent }) => ({
        status: Object.keys(headers)[0]! in sent ? status : 200,
        ...control('max-age=60'),
      }))
      assert.equal((await origin.get('/', headers)).status, status)
      assert.equal((await origin.get()).status, 200)
    })
  }

  for (const status of [412, 416]) {
    test(`${status} without a reason in the request is stored like others`, async (t) => {
      installDate(t, NOW)
      const origin = cached(() => ({ status, ...control('max-age=60') }))
      await origin.get()
      await origin.get()
      assert.equal(origin.received.length, 1)
    })
  }
})

describe('fields that are not stored', () => {
  test('hop-by-hop fields, age, and what connection names', async (t) => {
    installDate(t, NOW)
    const store = new MemoryCacheStore()
    const description = {
      headers: {
        'cache-control': 'max-age=60, private="secret", no-cache="other"',
        connection: 'close, X-Hop',
        'x-hop': '1',
        'keep-alive': 'timeout=5',
        'proxy-authenticate': 'x',
        'proxy-authentication-info': 'x',
        'proxy-authorization': 'x',
        'proxy-connection': 'x',
        te: 'x',
        'transfer-encoding': 'chunked',
        upgrade: 'x',
        age: '3',
        secret: '1',
        other: '1',
        kept: ['1', '2'],
      },
      body: 'x',
    }
    const origin = cached(description, { store })
    await origin.get()
    const { headers } = await origin.get()
    const stored = {
      'cache-control': 'max-age=60, private="secret", no-cache="other"',
      kept: ['1', '2'],
    }
    assert.deepEqual(headers, { ...stored, age: '3' })
    assert.deepEqual(store.get({ origin: ORIGIN, method: 'GET', path: '/' })?.headers, stored)
  })
})

describe('lifetimes', () => {
  interface Life {
    readonly title: string
    readonly headers: Record<string, string | string[]>
    readonly options?: CacheOptions
    readonly status?: number
    /** Milliseconds. */
    readonly fresh: number
  }
  const DATE = httpDate(NOW)
  const rows: Life[] = [
    {
      title: 's-maxage before max-age',
      headers: { 'cache-control': 's-maxage=10, max-age=20' },
      fresh: 10_000,
    },
    {
      title: 'no s-maxage in a private cache',
      headers: { 'cache-control': 's-maxage=10, max-age=20' },
      options: { type: 'private' },
      fresh: 20_000,
    },
    { title: 'the smallest', headers: { 'cache-control': 'max-age=20, max-age=10' }, fresh: 10_000 },
    {
      title: 'max-age before expires',
      headers: { 'cache-control': 'max-age=10', expires: httpDate(NOW + 99_000) },
      fresh: 10_000,
    },
    {
      title: 'expires minus date',
      headers: { date: httpDate(NOW - 5000), expires: httpDate(NOW + 10_000) },
      fresh: 10_000,
    },
    {
      title: 'a tenth of the time since last-modified',
      headers: { 'last-modified': httpDate(NOW - 100_000), date: DATE },
      fresh: 10_000,
    },
    { title: 'immutable: a year', headers: { 'cache-control': 'immutable' }, fresh: 365 * 86_400_000 },
    { title: 'cacheByDefault, in ms', headers: {}, options: { cacheByDefault: 1500 }, fresh: 1500 },
    {
      title: 'cacheByDefault, where last-modified is in the future',
      headers: { 'last-modified': httpDate(NOW + 100_000), date: DATE },
      options: { cacheByDefault: 1500 },
      fresh: 1500,
    },
    { title: 'age counts', headers: { 'cache-control': 'max-age=10', age: '4' }, fresh: 6000 },
    { title: 'the first age counts', headers: { 'cache-control': 'max-age=10', age: '4, 9' }, fresh: 6000 },
    {
      title: 'an unreadable age does not',
      headers: { 'cache-control': 'max-age=10', age: '4.5' },
      fresh: 10_000,
    },
    {
      title: 'the date counts',
      headers: { 'cache-control': 'max-age=10', date: httpDate(NOW - 4000) },
      fresh: 6000,
    },
    {
      title: 'the larger of both',
      headers: { 'cache-control': 'max-age=10', date: httpDate(NOW - 4000), age: '5' },
      fresh: 5000,
    },
    {
      title: 'a date in the future does not',
      headers: { 'cache-control': 'max-age=10', date: httpDate(NOW + 4000) },
      fresh: 10_000,
    },
    {
      title: 'a targeted field',
      headers: { 'cache-control': 'no-store', 'cdn-cache-control': 'max-age=10' },
      options: { targets: ['CDN-Cache-Control'] },
      fresh: 10_000,
    },
  ]
  for (const { title, headers, options, status = 200, fresh } of rows) {
    test(`${title}: ${fresh} ms`, async (t) => {
      const clock = installDate(t, NOW)
      const origin = cached({ status, headers, body: 'x' }, options)
      await assertFreshFor(fresh, origin, clock)
    })
  }

  for (const expires of ['0', 'soon', 'Thu, 01 Jan 2026 00:00:10 CET', httpDate(NOW - 1)]) {
    test(`expires ${expires} is no lifetime`, async (t) => {
      installDate(t, NOW)
      const origin = cached({ headers: { expires }, body: 'x' })
      await origin.get()
      await origin.get()
      assert.equal(origin.received.length, 2)
    })
  }

  test('a targeted field replaces expires, and counts in a shared cache alone', async (t) => {
    installDate(t, NOW)
    const headers = { expires: httpDate(NOW + 60_000), 'cdn-cache-control': 'no-store' }
    for (const [type, sent] of [
      ['shared', 2],
      ['private', 1],
    ] as const) {
      const origin = cached({ headers, body: 'x' }, { type, targets: ['CDN-Cache-Control'] })
      await origin.get()
      await origin.get()
      assert.equal(origin.received.length, sent, type)
    }
  })

  test('the time from the request to the head counts', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(() => {
      clock.advance(3000)
      return { headers: { 'cache-control': 'max-age=10', age: '2' }, body: 'x' }
    })
    await origin.get()
    assert.equal((await origin.get()).headers!['age'], '5')
    clock.advance(5000)
    await origin.get()
    assert.equal(origin.received.length, 2)
  })

  test('age is rounded down', async (t) => {
    const clock = installDate(t, NOW + 600)
    const origin = cached({ headers: { 'cache-control': 'max-age=10', date: DATE }, body: 'x' })
    await origin.get()
    clock.advance(999)
    assert.equal((await origin.get()).headers!['age'], '0')
    clock.advance(1)
    assert.equal((await origin.get()).headers!['age'], '1')
  })

  test('with a validator a stale response is kept for a day', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match']
        ? { status: 304 }
        : { headers: { 'cache-control': 'max-age=1', etag: '"1"' }, body: 'x' },
    )
    await origin.get()
    clock.advance(86_400_000)
    assert.equal((await origin.get()).body, 'x')
    assert.equal(origin.received[1]!.headers['if-none-match'], '"1"')
  })

  for (const [control, option] of [
    ['max-age=10, stale-while-revalidate=60', {}],
    ['max-age=10, stale-if-error=60', {}],
    ['max-age=10', { staleIfError: 60_000 }],
  ] as const) {
    test(`without one, as long as it may be of use: ${control} ${JSON.stringify(option)}`, async (t) => {
      const clock = installDate(t, NOW)
      let answer: Answer = { headers: { 'cache-control': control }, body: 'x' }
      const origin = cached(() => answer, option)
      await origin.get()
      answer = { status: 503, body: 'down' }
      clock.advance(69_999)
      assert.equal((await origin.get()).body, 'x')
      clock.advance(1)
      assert.equal((await origin.get()).body, 'down')
    })
  }

  test('an immutable one, for a year', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached({ headers: { 'cache-control': 'max-age=10, immutable' }, body: 'x' })
    const stale = { 'cache-control': 'max-stale' }
    await origin.get()
    clock.advance(365 * 86_400_000)
    await origin.get('/', stale)
    assert.equal(origin.received.length, 1)
    clock.advance(10_000)
    await origin.get('/', stale)
    assert.equal(origin.received.length, 2)
  })

  test('without one, for its lifetime', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached({ headers: { 'cache-control': 'max-age=10' }, body: 'x' })
    const stale = { 'cache-control': 'max-stale' }
    await origin.get()
    clock.advance(19_999)
    await origin.get('/', stale)
    assert.equal(origin.received.length, 1)
    clock.advance(1)
    await origin.get('/', stale)
    assert.equal(origin.received.length, 2)
  })
})
