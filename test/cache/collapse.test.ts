/** Concurrent requests for one URL: `collapse`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CacheOptions } from '../../src/cache/options.ts'
import { MemoryCacheStore } from '../../src/cache/store/memory-store.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Answer, type CachedOrigin, cached, httpDate, installDate, ORIGIN, settle } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)

interface Held extends CachedOrigin {
  /** Answers the request with this number. */
  answer(index: number, answer: Answer): Promise<void>
}

/** An origin that answers when the test says so. */
function held(options: CacheOptions = {}): Held {
  const answers: ((answer: Answer) => void)[] = []
  const origin = cached(() => new Promise<Answer>((resolve) => answers.push(resolve)), {
    collapse: true,
    ...options,
  })
  return {
    ...origin,
    async answer(index, answer) {
      answers[index]!(answer)
      await settle()
    },
  }
}

const SIZED: Answer = {
  headers: { 'cache-control': 'max-age=60', 'content-length': '5' },
  body: ['he', 'llo'],
}
const UNSIZED: Answer = { headers: { 'cache-control': 'max-age=60' }, body: ['he', 'llo'] }
const GET = { origin: ORIGIN, path: '/', method: 'GET' }

/** Three callers ask for what is stored and has expired. */
async function threeAfterExpiry(
  t: Parameters<typeof installDate>[0],
): Promise<{ origin: Held; all: Promise<RecordingHandler>[] }> {
  const clock = installDate(t, NOW)
  const origin = held()
  const first = origin.get()
  await settle()
  await origin.answer(0, { headers: { 'cache-control': 'max-age=10', etag: '"1"' }, body: 'hello' })
  await first
  clock.advance(11_000)
  const all = [origin.get(), origin.get(), origin.get()]
  await settle()
  return { origin, all }
}

describe('collapse', () => {
  test('a caller has its own time limits: those with others do not wait for each other', async () => {
    for (const name of ['headersTimeout', 'bodyTimeout']) {
      const origin = held()
      const all = [{ [name]: 1000 }, { [name]: 2000 }, {}, { [name]: 1000 }, { [name]: null }]
      for (const limits of all) origin.dispatch({ ...GET, ...limits }, new RecordingHandler())
      await settle()
      assert.equal(origin.received.length, 3, name)
    }
  })

  for (const [title, answer] of [
    ['a body of known length', SIZED],
    ['a body of unknown length', UNSIZED],
  ] as const) {
    test(`${title}: five requests, one to the origin`, async (t) => {
      installDate(t, NOW)
      const origin = held()
      const all = Array.from({ length: 5 }, () => origin.get())
      await settle()
      assert.equal(origin.received.length, 1)
      await origin.answer(0, answer)
      for (const handler of await Promise.all(all)) {
        assert.equal(handler.body, 'hello')
        assert.deepEqual(handler.story, [
          'onRequestStart',
          'onResponseStart 200',
          'onResponseData',
          'onResponseEnd',
        ])
      }
      assert.equal((await origin.get()).body, 'hello')
      assert.equal(origin.received.length, 1)
    })
  }

  test('without the option each is sent', async () => {
    const origin = held({ collapse: false })
    void origin.get()
    void origin.get()
    await settle()
    assert.equal(origin.received.length, 2)
  })

  test('they are fed while the body arrives, each at its own pace', async (t) => {
    installDate(t, NOW)
    let finish = (): void => {}
    const origin = cached(
      () => ({
        headers: { 'cache-control': 'max-age=60', 'content-length': '5' },
        body: SIZED.body!,
      }),
      { collapse: true },
    )
    const first = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    const second = new RecordingHandler({
      onResponseData: (controller) => {
        controller.pause()
        finish = () => controller.resume()
      },
    })
    const third = new RecordingHandler()
    for (const handler of [first, second, third]) origin.dispatch(GET, handler)
    assert.equal((await third.settled).body, 'hello', 'although the first one does not read')
    await settle()
    while (second.trailers === null) finish()
    first.controller!.resume()
    assert.equal((await first.settled).body, 'hello')
    assert.equal(second.body, 'hello')
    assert.equal(origin.received.length, 1)
  })

  test('a caller that joins while the body arrives gets all of it', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const late = new RecordingHandler()
    const first = new RecordingHandler((method) => {
      if (method === 'onResponseStart') origin.dispatch(GET, late)
    })
    origin.dispatch(GET, first)
    await settle()
    await origin.answer(0, SIZED)
    assert.deepEqual([(await first.settled).body, (await late.settled).body], ['hello', 'hello'])
    assert.equal(origin.received.length, 1)
  })

  test('a response that cannot be stored: each is sent, and for 60 s none waits', async (t) => {
    const clock = installDate(t, NOW)
    t.mock.method(performance, 'now', () => clock.now)
    const origin = held()
    const all = [origin.get(), origin.get(), origin.get()]
    await settle()
    await origin.answer(0, { headers: { 'cache-control': 'no-store' }, body: 'own' })
    assert.equal(origin.received.length, 3)
    await origin.answer(1, { body: 'b' })
    await origin.answer(2, { body: 'c' })
    assert.deepEqual(
      (await Promise.all(all)).map((handler) => handler.body),
      ['own', 'b', 'c'],
    )
    clock.advance(59_999)
    void origin.get()
    void origin.get()
    await settle()
    assert.equal(origin.received.length, 5)
    clock.advance(1)
    void origin.get()
    void origin.get()
    await settle()
    assert.equal(origin.received.length, 6)
  })

  for (const [title, answer] of [
    ['known', { ...SIZED, headers: { ...SIZED.headers, vary: 'a' } }],
    ['unknown', { ...UNSIZED, headers: { ...UNSIZED.headers, vary: 'a' } }],
  ] as const) {
    test(`another variant is sent on its own (${title} length)`, async (t) => {
      installDate(t, NOW)
      const origin = held()
      const same = [origin.get('/', { a: '1' }), origin.get('/', { a: '1' })]
      const other = origin.get('/', { a: '2' })
      await settle()
      await origin.answer(0, answer)
      assert.deepEqual(
        (await Promise.all(same)).map((handler) => handler.body),
        ['hello', 'hello'],
      )
      assert.equal(origin.received.length, 2)
      await origin.answer(1, { body: 'other' })
      assert.equal((await other).body, 'other')
    })
  }

  test('the first one aborts: the next takes over, and nothing is sent again', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const first = new RecordingHandler()
    origin.dispatch(GET, first)
    const others = [origin.get(), origin.get()]
    await settle()
    first.controller!.abort(new Error('enough'))
    await settle()
    assert.equal(first.error?.message, 'enough')
    assert.equal(origin.aborts.length, 0)
    await origin.answer(0, SIZED)
    assert.deepEqual(
      (await Promise.all(others)).map((handler) => handler.body),
      ['hello', 'hello'],
    )
    assert.equal(origin.received.length, 1)
  })

  for (const [title, headers] of [
    ['that is not stored', { 'cache-control': 'private' }],
    ['of another variant', { 'cache-control': 'max-age=60', vary: 'a' }],
    ['of another variant, known length', { 'cache-control': 'max-age=60', vary: 'a', 'content-length': '5' }],
  ] as const) {
    test(`the first one aborts: nobody else gets a response ${title}`, async (t) => {
      installDate(t, NOW)
      const origin = held()
      const first = new RecordingHandler()
      origin.dispatch({ ...GET, headers: { a: '1' } }, first)
      const other = origin.get('/', { a: '2' })
      await settle()
      first.controller!.abort(new Error('enough'))
      await origin.answer(0, { headers, body: 'first' })
      await origin.answer(1, { body: 'other' })
      assert.equal((await other).body, 'other')
      assert.equal(origin.received[1]!.headers['a'], '2')
    })
  }

  test('the first one aborts: a confirmed response of another variant answers nobody else', async (t) => {
    const clock = installDate(t, NOW)
    const origin = held()
    const stored = origin.get('/', { a: '1' })
    await settle()
    const headers = { 'cache-control': 'max-age=60', vary: 'a', etag: '"1"' }
    await origin.answer(0, { headers, body: 'first' })
    await stored
    clock.advance(60_000)
    const first = new RecordingHandler()
    origin.dispatch({ ...GET, headers: { a: '1' } }, first)
    const others = [origin.get('/', { a: '2' }), origin.get('/', { a: '1' })]
    await settle()
    first.controller!.abort(new Error('enough'))
    await origin.answer(1, { status: 304, headers })
    await origin.answer(2, { body: 'other' })
    assert.deepEqual(
      (await Promise.all(others)).map(({ body }) => body),
      ['other', 'first'],
    )
  })

  test('the first one aborts, then the others: the request is aborted', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const first = new RecordingHandler()
    origin.dispatch(GET, first)
    const second = new RecordingHandler()
    let abort: (reason: unknown) => void = () => {}
    origin.dispatch(GET, Object.assign(second, { onRequestQueued: (given: typeof abort) => (abort = given) }))
    await settle()
    first.controller!.abort(new Error('enough'))
    assert.equal(origin.aborts.length, 0)
    abort(new Error('enough'))
    assert.equal(origin.aborts.length, 1)
    const third = origin.get()
    await settle()
    await origin.answer(1, SIZED)
    assert.equal((await third).body, 'hello')
  })

  test('the first one aborts: a response that none of the others can use is given up', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const first = new RecordingHandler()
    origin.dispatch(GET, first)
    void origin.get()
    await settle()
    first.controller!.abort(new Error('enough'))
    await origin.answer(0, { headers: { 'cache-control': 'private' }, body: 'first' })
    assert.equal(origin.aborts.length, 1)
  })

  test('the first one aborts: what the others got answers nobody after its time', async (t) => {
    const clock = installDate(t, NOW)
    const origin = held()
    const first = new RecordingHandler()
    origin.dispatch(GET, first)
    const other = origin.get()
    await settle()
    first.controller!.abort(new Error('enough'))
    await origin.answer(0, SIZED)
    assert.equal((await other).body, 'hello')
    clock.advance(61_000)
    void origin.get()
    await settle()
    assert.equal(origin.received.length, 2)
  })

  for (const body of ['he', 'hello, world']) {
    test(`a body of another length than announced reaches all: ${body}`, async (t) => {
      installDate(t, NOW)
      const origin = held({ store: new MemoryCacheStore({ maxEntrySize: 8 }) })
      const all = [origin.get(), origin.get()]
      await settle()
      await origin.answer(0, { ...SIZED, body: [...body] })
      assert.deepEqual(
        (await Promise.all(all)).map((handler) => handler.body),
        [body, body],
      )
      const next = origin.get()
      await settle()
      await origin.answer(1, SIZED)
      assert.equal((await next).body, 'hello', 'nothing was stored')
    })
  }

  test('all abort: the request is aborted', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const handlers = [new RecordingHandler(), new RecordingHandler()]
    const aborts: ((reason: unknown) => void)[] = []
    for (const handler of handlers) {
      origin.dispatch(
        GET,
        Object.assign(handler, { onRequestQueued: (abort: (reason: unknown) => void) => aborts.push(abort) }),
      )
    }
    await settle()
    for (const abort of aborts) abort(new Error('enough'))
    assert.deepEqual(
      handlers.map((handler) => handler.error?.message),
      ['enough', 'enough'],
    )
    assert.equal(origin.aborts.length, 1)
  })

  test('a follower aborts alone', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const first = origin.get()
    const second = new RecordingHandler()
    let abort: (reason: unknown) => void = () => {}
    origin.dispatch(GET, Object.assign(second, { onRequestQueued: (given: typeof abort) => (abort = given) }))
    await settle()
    abort(new Error('enough'))
    assert.equal(second.error?.message, 'enough')
    await origin.answer(0, SIZED)
    assert.equal((await first).body, 'hello')
  })

  test('the request fails before its head: each is sent on its own', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const all = [origin.get(), origin.get(), origin.get()]
    await settle()
    await origin.answer(0, { error: new Error('lost') })
    assert.equal((await all[0]!).error?.message, 'lost')
    assert.equal(origin.received.length, 3)
    await origin.answer(1, { body: 'b' })
    await origin.answer(2, { body: 'c' })
    assert.equal((await all[1]!).body, 'b')
  })

  test('the request fails in its body: all that read it fail', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const all = [origin.get(), origin.get()]
    await settle()
    await origin.answer(0, { ...SIZED, status: 200, body: 'he', error: new Error('cut') })
    for (const handler of await Promise.all(all)) assert.equal(handler.error?.message, 'cut')
    void origin.get()
    await settle()
    assert.equal(origin.received.length, 2, 'nothing was stored')
  })

  test('a body of unknown length fails: those who wait are sent', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const all = [origin.get(), origin.get()]
    await settle()
    await origin.answer(0, { ...UNSIZED, status: 200, error: new Error('cut') })
    await origin.answer(1, { body: 'b' })
    assert.deepEqual([(await all[0]!).error?.message, (await all[1]!).body], ['cut', 'b'])
  })

  test('a body of unknown length that is too long, or whose caller does not read: they are sent', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const large = [origin.get('/large'), origin.get('/large')]
    await settle()
    await origin.answer(0, {
      headers: { 'cache-control': 'max-age=60' },
      body: ['x'.repeat(3_000_000), 'x'.repeat(3_000_000)],
    })
    assert.equal(origin.received.length, 2)
    await origin.answer(1, { body: 'b' })
    assert.deepEqual(
      (await Promise.all(large)).map((handler) => handler.body.length),
      [6_000_000, 1],
    )

    const slow = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    origin.dispatch({ ...GET, path: '/slow' }, slow)
    const waiting = origin.get('/slow')
    await settle()
    await origin.answer(2, UNSIZED)
    await origin.answer(3, { body: 'd' })
    assert.equal((await waiting).body, 'd')
    slow.controller!.resume()
    assert.equal((await slow.settled).body, 'hello')
  })

  test('requests that ask for something else go their own way', async (t) => {
    installDate(t, NOW)
    const origin = held()
    void origin.get()
    for (const headers of [
      { authorization: 'a' },
      { range: 'bytes=0-1' },
      { 'if-match': '"1"' },
      { 'if-none-match': '"1"' },
      { 'if-modified-since': httpDate(NOW) },
      { 'if-unmodified-since': httpDate(NOW) },
      { 'cache-control': 'max-age=5' },
      { pragma: 'no-cache' },
    ]) {
      void origin.get('/', headers)
    }
    void origin.get('/', {}, { body: 'x' })
    void origin.get('/other')
    await settle()
    assert.equal(origin.received.length, 11)
  })

  test('an expired response is confirmed once for all', async (t) => {
    const { origin, all } = await threeAfterExpiry(t)
    assert.equal(origin.received.length, 2)
    await origin.answer(1, { status: 304 })
    assert.deepEqual(
      (await Promise.all(all)).map((handler) => handler.body),
      ['hello', 'hello', 'hello'],
    )
    assert.equal(origin.received.length, 2)
  })

  test('a 304 about another response: one plain request for all', async (t) => {
    const { origin, all } = await threeAfterExpiry(t)
    await origin.answer(1, { status: 304, headers: { etag: '"2"' } })
    await origin.answer(2, SIZED)
    assert.deepEqual(
      (await Promise.all(all)).map((handler) => handler.body),
      ['hello', 'hello', 'hello'],
    )
    assert.equal(origin.received.length, 3)
  })

  test('an invalidated request is not joined', async (t) => {
    installDate(t, NOW)
    const origin = held()
    const early = [origin.get(), origin.get()]
    await settle()
    const post = origin.get('/', {}, { method: 'POST' })
    await settle()
    await origin.answer(1, { status: 200 })
    await post
    const late = origin.get()
    await settle()
    assert.equal(origin.received.length, 3)
    await origin.answer(0, { ...SIZED, body: 'older' })
    assert.equal(origin.received.length, 4, 'the one that waited is sent')
    await origin.answer(2, { ...SIZED, body: 'newer' })
    await origin.answer(3, { ...SIZED, body: 'newer' })
    const bodies = (await Promise.all([...early, late])).map((handler) => handler.body)
    assert.deepEqual(bodies, ['older', 'newer', 'newer'])
    assert.equal((await origin.get()).body, 'newer')
  })

  test('the first handler throws: the others get the response', async (t) => {
    installDate(t, NOW)
    for (const method of ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd'] as const) {
      const origin = cached(() => SIZED, { collapse: true })
      const first = new RecordingHandler((called) => {
        if (called === method) throw new Error(method)
      })
      origin.dispatch(GET, first)
      const second = origin.get()
      assert.equal((await second).body, 'hello', method)
      await first.settled
      assert.equal(first.errors[0]?.message, method)
    }
  })
})
