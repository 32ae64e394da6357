/** Conditional requests to the origin, and what their answers do to the stored response. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CacheOptions } from '../../src/cache/options.ts'
import { errors } from '../../src/index.ts'
import { type Answer, type CachedOrigin, cached, httpDate, installDate } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)
const MODIFIED = httpDate(NOW - 60_000)

/** A response that is stale when the second request is made, which gets `answer` if it is conditional. */
async function stale(
  t: Parameters<typeof installDate>[0],
  answer: Answer,
  first: Answer = {
    headers: { 'cache-control': 'max-age=10', etag: '"1"', 'content-type': 'text/plain', x: '1' },
  },
  options: CacheOptions = {},
): Promise<CachedOrigin & { advance(ms: number): void }> {
  const clock = installDate(t, NOW)
  let count = 0
  const origin = cached(
    ({ headers }) =>
      headers['if-none-match'] || headers['if-modified-since'] || count === 99
        ? answer
        : { body: `body ${++count}`, ...first },
    options,
  )
  await origin.get()
  clock.advance(11_000)
  return { ...origin, advance: clock.advance }
}

describe('the request', () => {
  test("has the validators and the caller's headers", async (t) => {
    const origin = await stale(
      t,
      { status: 304 },
      {
        headers: { 'cache-control': 'max-age=10', etag: 'W/"1"', 'last-modified': MODIFIED, vary: 'accept' },
      },
    )
    await origin.get('/', { 'x-own': '1' })
    assert.deepEqual(origin.received[1]!.headers, {
      'x-own': '1',
      'if-none-match': 'W/"1"',
      'if-modified-since': MODIFIED,
    })
  })

  for (const etag of ['1', '""', '"a', 'w/"1"']) {
    test(`leaves out ${etag}, which is not an ETag`, async (t) => {
      const origin = await stale(
        t,
        { status: 304 },
        { headers: { 'cache-control': 'max-age=10', etag, 'last-modified': MODIFIED } },
      )
      await origin.get()
      assert.deepEqual(origin.received[1]!.headers, { 'if-modified-since': MODIFIED })
    })
  }

  test('goes by the date without last-modified, and by the time of receipt without that', async (t) => {
    const rows: [headers: Record<string, string>, sent: object][] = [
      [{}, { 'if-modified-since': httpDate(NOW) }],
      [{ date: 'today' }, { 'if-modified-since': httpDate(NOW) }],
      [{ date: httpDate(NOW - 3000) }, { 'if-modified-since': httpDate(NOW - 3000) }],
      // nginx wants both to match, and has no date to compare with: it would send the whole response each time.
      [{ etag: '"1"' }, { 'if-none-match': '"1"' }],
      [{ 'last-modified': httpDate(NOW - 9000) }, { 'if-modified-since': httpDate(NOW - 9000) }],
    ]
    for (const [headers, sent] of rows) {
      const origin = await stale(
        t,
        { status: 304 },
        { headers: { 'cache-control': 'max-age=10', ...headers }, body: 'x' },
      )
      assert.equal((await origin.get()).body, 'x')
      assert.deepEqual(origin.received[1]!.headers, sent)
    }
  })

  test('is a plain one if its body is a stream', async (t) => {
    const { Readable } = await import('node:stream')
    const origin = await stale(t, { status: 304 })
    const body = Readable.from(['x'])
    assert.equal((await origin.get('/', {}, { body })).body, 'body 2')
    assert.deepEqual(origin.received[1]!.headers, {})
    assert.equal(origin.received[1]!.opts.body, body)
  })

  test('keeps a body that can be read again', async (t) => {
    const origin = await stale(t, { status: 304 })
    assert.equal((await origin.get('/', {}, { body: 'x' })).body, 'body 1')
    assert.equal(origin.received[1]!.opts.body, 'x')
  })

  test('does not change the options of the caller', async (t) => {
    const origin = await stale(t, { status: 304 })
    const headers = { accept: '*/*' }
    await origin.get('/', headers)
    assert.deepEqual(headers, { accept: '*/*' })
  })
})

describe('a 304', () => {
  for (const [title, headers] of [
    ['with cache-control', { 'cache-control': 'max-age=20', etag: '"1"' }],
    ['without', {}],
  ] as const) {
    test(`${title} refreshes the stored response`, async (t) => {
      const origin = await stale(t, { status: 304, headers: { ...headers, x: '2', 'x-new': 'n' } })
      const second = await origin.get()
      assert.deepEqual(second.story, [
        'onRequestStart',
        'onResponseStart 200',
        'onResponseData',
        'onResponseEnd',
      ])
      assert.deepEqual(second.headers, {
        'cache-control': 'max-age=10',
        etag: '"1"',
        'content-type': 'text/plain',
        ...headers,
        x: '2',
        'x-new': 'n',
        age: '0',
      })
      origin.advance(9000)
      const third = await origin.get()
      assert.deepEqual([third.body, third.headers!['age'], third.headers!['x']], ['body 1', '9', '2'])
      assert.equal(origin.received.length, 2)
    })
  }

  test('after informational heads', async (t) => {
    const origin = await stale(t, { status: 304, informational: [103, 103] })
    const second = await origin.get()
    assert.equal(second.body, 'body 1')
    assert.deepEqual(second.statuses, [103, 103, 200])
  })

  test('never changes the description of the body', async (t) => {
    const body = {
      'content-encoding': 'gzip',
      'content-type': 'a/b',
      'content-length': '6',
    }
    const origin = await stale(
      t,
      {
        status: 304,
        headers: {
          'content-encoding': 'br',
          'content-type': 'c/d',
          'content-length': '0',
          'content-range': 'x',
          connection: 'x-hop',
          'x-hop': '1',
          'transfer-encoding': 'chunked',
        },
      },
      { headers: { 'cache-control': 'max-age=10', etag: '"1"', ...body } },
    )
    const { headers } = await origin.get()
    assert.deepEqual(headers, { 'cache-control': 'max-age=10', etag: '"1"', ...body, age: '0' })
  })

  test('without a date counts from its arrival', async (t) => {
    const origin = await stale(
      t,
      { status: 304 },
      { headers: { 'cache-control': 'max-age=10', etag: '"1"', date: httpDate(NOW) } },
    )
    assert.equal((await origin.get()).headers!['age'], '0')
    origin.advance(9000)
    await origin.get()
    assert.equal(origin.received.length, 2)
  })

  test('with an age is as old as it says', async (t) => {
    const origin = await stale(t, { status: 304, headers: { age: '4' } })
    assert.equal((await origin.get()).headers!['age'], '4')
    origin.advance(6000)
    await origin.get()
    assert.equal(origin.received.length, 3)
  })

  test('may bring the first ETag', async (t) => {
    const origin = await stale(
      t,
      { status: 304, headers: { etag: '"9"' } },
      { headers: { 'cache-control': 'max-age=10', 'last-modified': MODIFIED } },
    )
    assert.equal((await origin.get()).headers!['etag'], '"9"')
    origin.advance(11_000)
    await origin.get()
    assert.equal(origin.received[2]!.headers['if-none-match'], '"9"')
  })

  const useless: [headers: Record<string, string>, options?: CacheOptions][] = [
    [{ etag: '"2"' }],
    [{ 'cache-control': 'no-store' }],
    [{ 'cache-control': 'private' }],
    [{ 'set-cookie': 'a=b' }],
    [{ vary: '*' }],
    [{ vary: 'accept' }],
  ]
  for (const [headers] of useless) {
    test(`${JSON.stringify(headers)} drops the stored response, and a plain request follows`, async (t) => {
      const origin = await stale(t, { status: 304, headers })
      const second = await origin.get('/', { own: '1' })
      assert.equal(second.body, 'body 2')
      assert.deepEqual(second.story, [
        'onRequestStart',
        'onResponseStart 200',
        'onResponseData',
        'onResponseEnd',
      ])
      assert.deepEqual(origin.received[2]!.headers, { own: '1' })
    })
  }

  test('private and set-cookie are fine in a private cache', async (t) => {
    const origin = await stale(
      t,
      { status: 304, headers: { 'cache-control': 'private, max-age=10', 'set-cookie': 'a=b' } },
      undefined,
      { type: 'private' },
    )
    assert.equal((await origin.get()).body, 'body 1')
  })
})

describe('another answer', () => {
  test('200 takes the place of the stored response', async (t) => {
    const origin = await stale(t, { headers: { 'cache-control': 'max-age=10' }, body: 'new' })
    assert.equal((await origin.get()).body, 'new')
    assert.equal((await origin.get()).body, 'new')
    assert.equal(origin.received.length, 2)
  })

  test('one that cannot be stored drops it', async (t) => {
    const origin = await stale(t, { headers: { 'cache-control': 'no-store' }, body: 'new' })
    await origin.get()
    await origin.get('/', { 'cache-control': 'max-stale' })
    assert.equal(origin.received.length, 3)
  })

  test('an error of the moment does not', async (t) => {
    const origin = await stale(t, { status: 503 })
    await origin.get()
    await origin.get('/', { 'cache-control': 'max-stale' })
    assert.equal(origin.received.length, 2)
  })
})

describe('stale-if-error', () => {
  const first = (control: string): Answer => ({ headers: { 'cache-control': control, etag: '"1"' } })
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
  interface Row {
    readonly control?: string
    readonly request?: string
    readonly options?: CacheOptions
    readonly answer: Answer
    readonly stale: boolean
  }
  const W = 'max-age=10, stale-if-error=60'
  const rows: Row[] = [
    ...[500, 502, 503, 504].map((status) => ({ control: W, answer: { status }, stale: true })),
    ...[400, 404, 501, 505].map((status) => ({ control: W, answer: { status }, stale: false })),
    { control: W, answer: { error: reset }, stale: true },
    { control: W, answer: { error: new errors.InvalidArgumentError('x') }, stale: false },
    { control: W, answer: { error: new errors.ClientDestroyedError() }, stale: false },
    // The argument of `destroy()`.
    { control: W, answer: { error: new Error('shutting down') }, stale: false },
    { control: W, answer: { error: new errors.BlockedAddressError() }, stale: false },
    { control: W, answer: { error: new errors.ThrottledError() }, stale: false },
    { control: W, answer: { error: new errors.MaxOriginsReachedError() }, stale: false },
    { control: W, answer: { error: new errors.ResponseExceededMaxSizeError() }, stale: false },
    { control: W, answer: { error: new errors.CircuitOpenError() }, stale: true },
    { control: W, answer: { error: new errors.ConnectTimeoutError() }, stale: true },
    { control: W, answer: { error: new errors.HeadersTimeoutError() }, stale: true },
    { control: 'max-age=10, stale-if-error=1', answer: { status: 503 }, stale: false },
    { request: 'stale-if-error=60', answer: { status: 503 }, stale: true },
    { request: 'stale-if-error=1', answer: { error: reset }, stale: false },
    { request: 'no-cache', control: W, answer: { status: 503 }, stale: false },
    { options: { staleIfError: 5000 }, answer: { status: 503 }, stale: true },
    { options: { staleIfError: 1000 }, answer: { status: 503 }, stale: false },
    {
      control: 'max-age=10, stale-if-error=0',
      options: { staleIfError: 5000 },
      answer: { status: 503 },
      stale: false,
    },
    {
      control: `${W}, must-revalidate`,
      options: { staleIfError: 5000 },
      answer: { status: 503 },
      stale: false,
    },
    {
      control: `${W}, must-revalidate`,
      request: 'stale-if-error=60',
      answer: { error: reset },
      stale: false,
    },
    { control: 's-maxage=10, stale-if-error=60', answer: { status: 503 }, stale: false },
    {
      control: 's-maxage=10, max-age=10, stale-if-error=60',
      options: { type: 'private' },
      answer: { status: 503 },
      stale: true,
    },
    { control: `${W}, proxy-revalidate`, answer: { status: 503 }, stale: false },
  ]
  for (const row of rows) {
    const { control = 'max-age=10', request, options = {}, answer } = row
    const what = answer.error?.message ?? answer.status
    test(`${control} | ${request ?? ''} | ${JSON.stringify(options)} | ${what}: ${row.stale ? 'stale' : 'the failure'}`, async (t) => {
      const origin = await stale(t, answer, first(control), options)
      const second = await origin.get('/', request === undefined ? {} : { 'cache-control': request })
      if (row.stale) {
        assert.deepEqual(
          [second.status, second.body, second.headers!['warning']],
          [200, 'body 1', '110 - "response is stale"'],
        )
        assert.deepEqual(second.story, [
          'onRequestStart',
          'onResponseStart 200',
          'onResponseData',
          'onResponseEnd',
        ])
      } else {
        assert.deepEqual([second.error, second.status], [answer.error, answer.status])
      }
    })
  }

  test('not for an abort of the caller', async (t) => {
    const clock = installDate(t, NOW)
    let waits = false
    const origin = cached(() => (waits ? new Promise<Answer>(() => {}) : { ...first(W), body: 'x' }))
    await origin.get()
    clock.advance(11_000)
    waits = true
    const { RecordingHandler } = await import('../support/recording-handler.ts')
    const reason = new Error('enough')
    const handler = new RecordingHandler({
      onRequestStart: (controller) => queueMicrotask(() => controller.abort(reason)),
    })
    origin.dispatch({ origin: 'http://origin.test', path: '/', method: 'GET' }, handler)
    await handler.settled
    assert.equal(handler.error, reason)
  })

  test('the body of the failure is not read to its end', async (t) => {
    const body = Array.from({ length: 10 }, () => 'x'.repeat(10_000))
    const origin = await stale(t, { status: 503, body }, first(W))
    assert.equal((await origin.get()).body, 'body 1')
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(origin.aborts.length, 1)
  })
})

describe('the controller', () => {
  test('is one for both requests, and pause holds the stored body', async (t) => {
    const origin = await stale(t, { status: 304, headers: { etag: '"2"' } })
    const { RecordingHandler } = await import('../support/recording-handler.ts')
    const handler = new RecordingHandler({ onRequestStart: (controller) => controller.pause() })
    origin.dispatch({ origin: 'http://origin.test', path: '/', method: 'GET' }, handler)
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(handler.controllers.length, 1)
    assert.deepEqual(handler.story, ['onRequestStart', 'onResponseStart 200'])
    handler.controller!.resume()
    await handler.settled
    assert.equal(handler.body, 'body 2')
  })
})
