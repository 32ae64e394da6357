/** What a stored response answers, and how it is delivered. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cache } from '../../src/cache/interceptor.ts'
import type { CacheOptions } from '../../src/cache/options.ts'
import type { DispatchController } from '../../src/index.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Answer, cached, httpDate, installDate, ORIGIN, scripted, settle } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)

function fresh(control: string, more: object = {}): Answer {
  return { headers: { 'cache-control': control, ...more }, body: 'hello world' }
}

interface Row {
  readonly title: string
  readonly answer: Answer
  readonly after: number
  readonly request: Record<string, string>
  readonly options?: CacheOptions
  /** `hit`, `sent` to the origin, or the status of the cache itself. */
  readonly result: 'hit' | 'sent' | 504
}

describe('served or sent', () => {
  const E = { etag: '"1"' }
  const rows: Row[] = [
    { title: 'fresh', answer: fresh('max-age=10'), after: 9, request: {}, result: 'hit' },
    {
      title: 'max-age of the request is reached',
      answer: fresh('max-age=10'),
      after: 5,
      request: { 'cache-control': 'max-age=5' },
      result: 'sent',
    },
    {
      title: 'max-age of the request is not reached',
      answer: fresh('max-age=10'),
      after: 4,
      request: { 'cache-control': 'max-age=5' },
      result: 'hit',
    },
    {
      title: 'max-age=0',
      answer: fresh('max-age=10'),
      after: 0,
      request: { 'cache-control': 'max-age=0' },
      result: 'sent',
    },
    {
      title: 'max-age=0 of an immutable response',
      answer: fresh('max-age=10, immutable'),
      after: 5,
      request: { 'cache-control': 'max-age=0' },
      result: 'hit',
    },
    {
      title: 'max-age=0 of a stale immutable response',
      answer: fresh('max-age=10, immutable'),
      after: 11,
      request: { 'cache-control': 'max-age=0' },
      result: 'sent',
    },
    {
      title: 'no-cache of an immutable response',
      answer: fresh('max-age=10, immutable'),
      after: 5,
      request: { 'cache-control': 'no-cache' },
      result: 'sent',
    },
    {
      title: 'min-fresh is met',
      answer: fresh('max-age=10'),
      after: 5,
      request: { 'cache-control': 'min-fresh=5' },
      result: 'hit',
    },
    {
      title: 'min-fresh is missed',
      answer: fresh('max-age=10'),
      after: 5,
      request: { 'cache-control': 'min-fresh=6' },
      result: 'sent',
    },
    {
      title: 'no-cache',
      answer: fresh('max-age=10'),
      after: 0,
      request: { 'cache-control': 'no-cache' },
      result: 'sent',
    },
    {
      title: 'pragma: no-cache',
      answer: fresh('max-age=10'),
      after: 0,
      request: { pragma: 'no-cache' },
      result: 'sent',
    },
    {
      title: 'pragma beside cache-control',
      answer: fresh('max-age=10'),
      after: 0,
      request: { pragma: 'no-cache', 'cache-control': 'max-age=5' },
      result: 'hit',
    },
    { title: 'stale', answer: fresh('max-age=10'), after: 10, request: {}, result: 'sent' },
    {
      title: 'max-stale=5',
      answer: fresh('max-age=10'),
      after: 15,
      request: { 'cache-control': 'max-stale=5' },
      result: 'hit',
    },
    {
      title: 'max-stale=4',
      answer: fresh('max-age=10'),
      after: 15,
      request: { 'cache-control': 'max-stale=4' },
      result: 'sent',
    },
    {
      title: 'max-stale without a value',
      answer: fresh('max-age=10', E),
      after: 8000,
      request: { 'cache-control': 'max-stale' },
      result: 'hit',
    },
    {
      title: 'only-if-cached, fresh',
      answer: fresh('max-age=10'),
      after: 1,
      request: { 'cache-control': 'only-if-cached' },
      result: 'hit',
    },
    {
      title: 'only-if-cached, stale',
      answer: fresh('max-age=10'),
      after: 11,
      request: { 'cache-control': 'only-if-cached' },
      result: 504,
    },
    {
      title: 'only-if-cached with max-stale',
      answer: fresh('max-age=10'),
      after: 11,
      request: { 'cache-control': 'only-if-cached, max-stale' },
      result: 'hit',
    },
    {
      title: 'no-cache of the response',
      answer: fresh('no-cache, max-age=10', E),
      after: 0,
      request: {},
      result: 'sent',
    },
    {
      title: 'qualified no-cache of the response',
      answer: fresh('no-cache="x", max-age=10'),
      after: 0,
      request: {},
      result: 'hit',
    },
    {
      title: 'must-revalidate against max-stale',
      answer: fresh('max-age=10, must-revalidate'),
      after: 11,
      request: { 'cache-control': 'max-stale' },
      result: 'sent',
    },
    {
      title: 'proxy-revalidate against max-stale',
      answer: fresh('max-age=10, proxy-revalidate'),
      after: 11,
      request: { 'cache-control': 'max-stale' },
      result: 'sent',
    },
    {
      title: 'proxy-revalidate in a private cache',
      answer: fresh('max-age=10, proxy-revalidate'),
      options: { type: 'private' },
      after: 11,
      request: { 'cache-control': 'max-stale' },
      result: 'hit',
    },
    {
      title: 's-maxage against max-stale',
      answer: fresh('s-maxage=10'),
      after: 11,
      request: { 'cache-control': 'max-stale' },
      result: 'sent',
    },
    {
      title: 'must-revalidate against stale-while-revalidate',
      answer: fresh('max-age=10, must-revalidate, stale-while-revalidate=60'),
      after: 11,
      request: {},
      result: 'sent',
    },
    {
      title: 's-maxage against stale-while-revalidate',
      answer: fresh('s-maxage=10, stale-while-revalidate=60'),
      after: 11,
      request: {},
      result: 'sent',
    },
    {
      title: 'past stale-while-revalidate',
      answer: fresh('max-age=10, stale-while-revalidate=5'),
      after: 15,
      request: {},
      result: 'sent',
    },
    {
      title: 'min-fresh=0 against stale-while-revalidate',
      answer: fresh('max-age=10, stale-while-revalidate=60'),
      after: 10,
      request: { 'cache-control': 'min-fresh=0' },
      result: 'sent',
    },
    {
      title: 'max-age of the request against stale-while-revalidate',
      answer: fresh('max-age=10, stale-while-revalidate=60'),
      after: 11,
      request: { 'cache-control': 'max-age=5' },
      result: 'sent',
    },
    {
      title: 'if-match',
      answer: fresh('max-age=10', E),
      after: 1,
      request: { 'if-match': '"1"' },
      result: 'sent',
    },
    {
      title: 'if-unmodified-since',
      answer: fresh('max-age=10', E),
      after: 1,
      request: { 'if-unmodified-since': httpDate(NOW) },
      result: 'sent',
    },
  ]
  for (const { title, answer, after, request, options, result } of rows) {
    test(`${title}: ${result}`, async (t) => {
      const clock = installDate(t, NOW)
      const origin = cached(answer, options)
      await origin.get()
      clock.advance(after * 1000)
      const second = await origin.get('/', request)
      assert.equal(origin.received.length, result === 'sent' ? 2 : 1)
      assert.equal(second.status, result === 504 ? 504 : 200)
      // Not a stale response with a request behind it.
      if (result === 'sent') assert.equal(second.headers!['age'], undefined)
    })
  }

  test('only-if-cached with nothing stored: 504 without headers and body', async () => {
    const origin = cached(fresh('max-age=10'))
    const { story, headers, statusText, body } = await origin.get('/', { 'cache-control': 'only-if-cached' })
    assert.deepEqual(story, ['onRequestStart', 'onResponseStart 504', 'onResponseEnd'])
    assert.deepEqual([headers, statusText, body], [{}, 'Gateway Timeout', ''])
    assert.equal(origin.received.length, 0)
  })

  test('security 7: a clock that was set back makes the age unknown', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(fresh('max-age=10'))
    await origin.get()
    clock.advance(-1000)
    await origin.get()
    assert.equal(origin.received.length, 1, 'clocks of processes differ a little')
    clock.advance(-1)
    await origin.get()
    assert.equal(origin.received.length, 2)
  })
})

describe('stale-while-revalidate', () => {
  test('serves at once with a warning, and asks the origin once', async (t) => {
    const clock = installDate(t, NOW)
    let version = 0
    let release = (): void => {}
    const origin = cached(async () => {
      if (version > 0) {
        await new Promise<void>((resolve) => {
          release = resolve
        })
      }
      return { headers: { 'cache-control': 'max-age=10, stale-while-revalidate=60' }, body: `v${++version}` }
    })
    await origin.get()
    clock.advance(11_000)
    for (let i = 0; i < 3; i++) {
      const { body, headers } = await origin.get()
      assert.equal(body, 'v1')
      assert.equal(headers!['warning'], '110 - "response is stale"')
      assert.equal(headers!['age'], '11')
    }
    assert.equal(origin.received.length, 2, 'one request for three stale responses')
    release()
    await settle()
    const { body, headers } = await origin.get()
    assert.deepEqual([body, headers!['warning']], ['v2', undefined])
    clock.advance(11_000)
    await origin.get()
    assert.equal(origin.received.length, 3, 'and again')
    release()
    await settle()
  })

  test('a background request that fails is silent, and leaves what is stored', async (t) => {
    const clock = installDate(t, NOW)
    let fails = false
    const origin = cached(() =>
      fails ? { error: new Error('down') } : fresh('max-age=10, stale-while-revalidate=60'),
    )
    await origin.get()
    clock.advance(11_000)
    fails = true
    for (let i = 0; i < 2; i++) {
      assert.equal((await origin.get()).body, 'hello world')
      await settle()
    }
    assert.equal(origin.received.length, 3)
  })

  test('a 304 in the background refreshes what is stored', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match']
        ? { status: 304 }
        : fresh('max-age=10, stale-while-revalidate=60', { etag: '"1"' }),
    )
    await origin.get()
    clock.advance(11_000)
    await origin.get()
    await settle()
    const { headers } = await origin.get()
    assert.deepEqual([headers!['age'], headers!['warning'], origin.received.length], ['0', undefined, 2])
  })
})

describe('conditions of the caller', () => {
  const MODIFIED = httpDate(NOW - 60_000)
  const rows: [request: Record<string, string>, status: number][] = [
    [{ 'if-none-match': '"1"' }, 304],
    [{ 'if-none-match': '"0", W/"1"' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"2"' }, 200],
    [{ 'if-none-match': '"2"', 'if-modified-since': MODIFIED }, 200],
    [{ 'if-modified-since': MODIFIED }, 304],
    [{ 'if-modified-since': httpDate(NOW) }, 304],
    [{ 'if-modified-since': httpDate(NOW - 61_000) }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
  ]
  for (const [request, status] of rows) {
    test(`${JSON.stringify(request)}: ${status}`, async (t) => {
      installDate(t, NOW)
      const origin = cached(
        fresh('max-age=10', { etag: '"1"', 'last-modified': MODIFIED, 'content-type': 'text/plain' }),
      )
      await origin.get()
      const handler = await origin.get('/', request)
      assert.equal(handler.status, status)
      assert.equal(handler.body, status === 304 ? '' : 'hello world')
      assert.equal(handler.headers!['content-type'], status === 304 ? undefined : 'text/plain')
      assert.equal(handler.headers!['age'], '0')
      assert.equal(origin.received.length, 1)
    })
  }

  test('a stale response is confirmed with its own validators, and the caller gets its 304', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match'] === '"1"' ? { status: 304 } : fresh('max-age=10', { etag: '"1"' }),
    )
    await origin.get()
    clock.advance(11_000)
    const handler = await origin.get('/', { 'if-none-match': '"0", "1"' })
    assert.deepEqual(handler.story, ['onRequestStart', 'onResponseStart 304', 'onResponseEnd'])
    assert.equal(origin.received[1]!.headers['if-none-match'], '"1"')
  })

  test('with nothing stored they go to the origin', async () => {
    const origin = cached({ status: 304, headers: { etag: '"7"' } })
    assert.equal((await origin.get('/', { 'if-none-match': '"7"' })).status, 304)
    assert.equal(origin.received[0]!.headers['if-none-match'], '"7"')
  })
})

describe('ranges', () => {
  const MODIFIED = httpDate(NOW - 60_000)
  const rows: [request: Record<string, string>, status: number, body: string, contentRange?: string][] = [
    [{ range: 'bytes=0-4' }, 206, 'hello', 'bytes 0-4/11'],
    [{ range: 'bytes=6-' }, 206, 'world', 'bytes 6-10/11'],
    [{ range: 'bytes=-5' }, 206, 'world', 'bytes 6-10/11'],
    [{ range: 'bytes=6-99' }, 206, 'world', 'bytes 6-10/11'],
    [{ range: 'bytes=-99' }, 206, 'hello world', 'bytes 0-10/11'],
    [{ range: 'bytes=11-' }, 416, '', 'bytes */11'],
    [{ range: 'bytes=-0' }, 416, '', 'bytes */11'],
    [{ range: 'bytes=0-1,3-4' }, 200, 'hello world'],
    [{ range: 'bytes=4-3' }, 200, 'hello world'],
    [{ range: 'bytes=-' }, 200, 'hello world'],
    [{ range: 'lines=1-2' }, 200, 'hello world'],
    [{ range: 'bytes=0-4', 'if-range': '"1"' }, 206, 'hello', 'bytes 0-4/11'],
    [{ range: 'bytes=0-4', 'if-range': '"2"' }, 200, 'hello world'],
    [{ range: 'bytes=0-4', 'if-range': 'W/"1"' }, 200, 'hello world'],
    [{ range: 'bytes=0-4', 'if-range': MODIFIED }, 206, 'hello', 'bytes 0-4/11'],
    [{ range: 'bytes=0-4', 'if-range': httpDate(NOW) }, 200, 'hello world'],
    [{ range: 'bytes=0-4', 'if-none-match': '"1"' }, 304, ''],
  ]
  for (const [request, status, body, contentRange] of rows) {
    test(`${JSON.stringify(request)}: ${status}`, async (t) => {
      installDate(t, NOW)
      const headers = {
        'cache-control': 'max-age=10',
        etag: '"1"',
        'last-modified': MODIFIED,
        'content-length': '11',
      }
      const origin = cached({ headers, body: ['hel', 'lo wor', 'ld'] })
      await origin.get()
      const handler = await origin.get('/', request)
      assert.deepEqual([handler.status, handler.body], [status, body])
      assert.equal(handler.headers!['content-range'], contentRange)
      if (status === 206) assert.equal(handler.headers!['content-length'], String(body.length))
      assert.equal(origin.received.length, 1)
    })
  }

  test('a stale response is confirmed as a whole, and the range is cut from it', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match'] === '"1"'
        ? { status: 304 }
        : fresh('max-age=10', { etag: '"1"', 'content-length': '11' }),
    )
    await origin.get()
    clock.advance(11_000)
    const { status, body } = await origin.get('/', { range: 'bytes=6-10', 'if-range': '"1"' })
    assert.deepEqual([status, body], [206, 'world'])
    assert.deepEqual(origin.received[1]!.headers, { 'if-none-match': '"1"' })
  })

  test('a weak ETag is never equal for if-range', async (t) => {
    installDate(t, NOW)
    const origin = cached(fresh('max-age=10', { etag: 'W/"1"' }))
    await origin.get()
    assert.equal((await origin.get('/', { range: 'bytes=0-4', 'if-range': 'W/"1"' })).status, 200)
  })

  test('a 206 of the origin is passed on, and the stored 200 stays', async (t) => {
    installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['range'] ? { status: 206, headers: {}, body: 'part' } : fresh('max-age=10'),
    )
    assert.equal((await origin.get('/', { range: 'bytes=0-3' })).body, 'part')
    await origin.get()
    assert.equal((await origin.get('/', { range: 'bytes=0-3' })).body, 'hell')
    assert.equal(origin.received.length, 2)
  })
})

describe('HEAD', () => {
  const options: CacheOptions = { methods: ['GET', 'HEAD'] }
  const HEAD = { method: 'HEAD' }

  test('is answered from a stored response to GET', async (t) => {
    installDate(t, NOW)
    const origin = cached(fresh('max-age=10', { 'content-length': '11' }), options)
    await origin.get()
    const handler = await origin.get('/', {}, HEAD)
    assert.deepEqual(handler.story, ['onRequestStart', 'onResponseStart 200', 'onResponseEnd'])
    assert.equal(handler.headers!['content-length'], '11')
    assert.equal(origin.received.length, 1)
  })

  test('is stored on its own, and does not answer GET', async (t) => {
    installDate(t, NOW)
    const origin = cached(
      ({ method }) => ({
        ...fresh('max-age=10', { 'content-length': '11' }),
        ...(method === 'HEAD' && { body: '' }),
      }),
      options,
    )
    await origin.get('/', {}, HEAD)
    await origin.get('/', {}, HEAD)
    assert.equal(origin.received.length, 1)
    assert.equal((await origin.get()).body, 'hello world')
    assert.equal(origin.received.length, 2)
  })

  test('that describes the same response refreshes it', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(
      ({ method }) => ({
        ...fresh('max-age=10', { etag: '"1"', x: method }),
        ...(method === 'HEAD' && { body: '' }),
      }),
      options,
    )
    await origin.get()
    clock.advance(11_000)
    await origin.get('/', {}, HEAD)
    const { body, headers } = await origin.get()
    assert.deepEqual([body, headers!['x'], origin.received.length], ['hello world', 'HEAD', 2])
  })

  for (const [title, changed] of [
    ['ETag', { etag: '"2"' }],
    ['length', { etag: '"1"', 'content-length': '12' }],
    ['last-modified', { 'last-modified': httpDate(NOW) }],
  ] as const) {
    test(`with another ${title} drops it`, async (t) => {
      const clock = installDate(t, NOW)
      const first =
        title === 'last-modified'
          ? { 'last-modified': httpDate(NOW - 9000) }
          : { etag: '"1"', 'content-length': '11' }
      const origin = cached(
        ({ method }) =>
          method === 'HEAD'
            ? { headers: { 'cache-control': 'max-age=10', ...changed } }
            : fresh('max-age=10', first),
        options,
      )
      await origin.get()
      clock.advance(11_000)
      await origin.get('/', {}, HEAD)
      await origin.get('/', { 'cache-control': 'max-stale' })
      assert.equal(origin.received.length, 3)
    })
  }
})

describe('a hit', () => {
  async function filled(): Promise<ReturnType<typeof cached>> {
    const origin = cached({
      headers: { 'cache-control': 'max-age=10', kept: ['1', '2'] },
      body: ['one', 'x'.repeat(70_000), 'two'],
    })
    await origin.get()
    return origin
  }
  const GET = { origin: ORIGIN, path: '/', method: 'GET' }

  test('returns true, and calls nothing within dispatch()', async () => {
    const { dispatch } = await filled()
    const handler = new RecordingHandler()
    assert.equal(dispatch(GET, handler), true)
    assert.deepEqual(handler.calls, [])
    await handler.settled
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.equal(handler.body.length, 70_006)
    assert.deepEqual(handler.trailers, {})
  })

  test('has rawHeaders', async () => {
    const { dispatch } = await filled()
    let raw: string[] = []
    const handler = new RecordingHandler({
      onResponseStart: (controller) => {
        raw = rawList(controller.rawHeaders)!.map(String)
      },
    })
    dispatch(GET, handler)
    await handler.settled
    assert.deepEqual(raw, ['cache-control', 'max-age=10', 'kept', '1', 'kept', '2', 'age', '0'])
  })

  test('is paused and resumed', async () => {
    const { dispatch } = await filled()
    let controller: DispatchController | undefined
    const handler = new RecordingHandler({
      onResponseData: (given) => {
        controller = given
        given.pause()
      },
    })
    dispatch(GET, handler)
    await settle()
    assert.equal(handler.chunks.length, 1)
    controller!.resume()
    assert.equal(handler.chunks.length, 2)
    while (handler.trailers === null) controller!.resume()
    await handler.settled
    assert.equal(handler.body.length, 70_006)
  })

  test('is aborted while it waits, in its head, and while paused', async () => {
    const { dispatch } = await filled()
    const reason = new Error('enough')
    const queued = new RecordingHandler()
    const abortable = Object.assign(queued, {
      onRequestQueued: (abort: (reason: unknown) => void) => abort(reason),
    })
    dispatch(GET, abortable)
    await queued.settled
    const inHead = new RecordingHandler({ onResponseStart: (controller) => controller.abort(reason) })
    dispatch(GET, inHead)
    const paused = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    dispatch(GET, paused)
    await settle()
    paused.controller!.abort(reason)
    for (const handler of [queued, inHead, paused]) assert.deepEqual(handler.errors, [reason])
    assert.deepEqual(queued.story, ['onResponseError'])
    assert.deepEqual(inHead.story, ['onRequestStart', 'onResponseStart 200', 'onResponseError'])
    assert.equal(paused.controller!.aborted, true)
    assert.equal(paused.controller!.reason, reason)
  })

  test('settles once, whichever method throws', async () => {
    const { dispatch } = await filled()
    for (const method of [
      'onRequestStart',
      'onResponseStart',
      'onResponseData',
      'onResponseEnd',
      'onResponseError',
    ] as const) {
      const handler = new RecordingHandler((called, self) => {
        if (called === 'onResponseError' && method === 'onResponseError') throw new Error('again')
        if (called === method || (method === 'onResponseError' && called === 'onResponseStart'))
          throw new Error(`in ${method} of ${self.calls.length}`)
      })
      dispatch(GET, handler)
      await handler.settled
      await settle()
      assert.equal(handler.calls.at(-1), 'onResponseError')
      assert.equal(handler.errors.length, 1)
    }
  })

  test('belongs to its caller: changes do not reach the next one', async () => {
    const { dispatch } = await filled()
    for (let i = 0; i < 2; i++) {
      const handler = new RecordingHandler()
      dispatch(GET, handler)
      await handler.settled
      assert.deepEqual(handler.headers!['kept'], ['1', '2'])
      assert.ok(handler.body.startsWith('one'))
      ;(handler.headers!['kept'] as string[]).push('3')
      handler.headers!['x'] = '1'
      for (const chunk of handler.chunks) {
        assert.equal(chunk.buffer.byteLength, chunk.length)
        chunk.fill(0)
      }
    }
  })

  test('destroys a request body that is not needed', async () => {
    const { Readable } = await import('node:stream')
    const { get } = await filled()
    const body = new Readable({ read() {} })
    await get('/', {}, { body })
    assert.equal(body.destroyed, true)
  })

  test("does not change the origin's chunks or headers", async () => {
    const headers = { 'cache-control': 'max-age=10' }
    const origin = scripted(() => ({ headers, body: 'x' }))
    const dispatch = cache()(origin.dispatch)
    const handler = new RecordingHandler()
    dispatch(GET, handler)
    await handler.settled
    assert.deepEqual(headers, { 'cache-control': 'max-age=10' })
  })
})
