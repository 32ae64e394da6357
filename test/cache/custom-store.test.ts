/** Stores of the caller: what they may return, and how they may fail. */
import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { PassThrough, Readable, Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { cache } from '../../src/cache/interceptor.ts'
import type { CacheGetResult, CacheKey, CacheStore, CacheValue } from '../../src/cache/store/cache-store.ts'
import { MemoryCacheStore } from '../../src/cache/store/memory-store.ts'
import { interceptors } from '../../src/index.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { eventually } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { storeErrors, value } from './store-suite.ts'
import { type Answer, cached, installDate, ORIGIN, scripted, settle } from './support.ts'

const FRESH = { headers: { 'cache-control': 'max-age=60', etag: '"1"' }, body: ['hel', 'lo'] }

class Custom implements CacheStore {
  readonly deleted: CacheKey[] = []
  readonly written: { key: CacheKey; value: CacheValue; body: Buffer }[] = []
  found: unknown = undefined

  get(_key: CacheKey): CacheGetResult | undefined | Promise<CacheGetResult | undefined> {
    return this.found as CacheGetResult
  }

  createWriteStream(key: CacheKey, given: CacheValue): Writable | undefined {
    const chunks: Buffer[] = []
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        chunks.push(chunk)
        done()
      },
      final: (done) => {
        this.written.push({ key, value: given, body: Buffer.concat(chunks) })
        done()
      },
    })
  }

  delete(key: CacheKey): void {
    this.deleted.push(key)
  }
}

function errorsOf(t: {
  after(run: () => void): void
}): { operation: string; error: unknown; key: CacheKey }[] {
  const messages: { operation: string; error: unknown; key: CacheKey }[] = []
  const listener = (message: unknown): void => {
    messages.push(message as { operation: string; error: unknown; key: CacheKey })
  }
  channel('ventuno:cache:error').subscribe(listener)
  t.after(() => void channel('ventuno:cache:error').unsubscribe(listener))
  return messages
}

describe('a store of the caller', () => {
  test('gets key and value, and the body in memory of its own', async (t) => {
    const clock = installDate(t)
    const store = new Custom()
    const origin = cached({ headers: { ...FRESH.headers, vary: 'accept, x' }, body: FRESH.body }, { store })
    const handler = await origin.get('/?a=1', { Accept: 'a' })
    for (const chunk of handler.chunks) chunk.fill(0)
    await settle()
    const [written] = store.written
    assert.deepEqual(written!.key, { origin: ORIGIN, method: 'GET', path: '/?a=1', headers: { accept: 'a' } })
    assert.deepEqual(
      { ...written!.value, vary: { ...written!.value.vary } },
      {
        statusCode: 200,
        statusMessage: 'OK',
        headers: { ...FRESH.headers, vary: 'accept, x' },
        vary: { accept: 'a', x: null },
        etag: '"1"',
        cacheControlDirectives: { 'max-age': 60 },
        cachedAt: clock.now,
        staleAt: clock.now + 60_000,
        deleteAt: clock.now + 60_000 + 86_400_000,
      },
    )
    assert.equal(written!.body.toString(), 'hello')
  })

  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from('hel')
    yield Buffer.from('lo')
  }
  const bodies: [title: string, body: () => unknown][] = [
    ['a Buffer', () => Buffer.from('hello')],
    ['a Uint8Array', () => new Uint8Array(Buffer.from('hello'))],
    ['a string', () => 'hello'],
    ['a list of Buffers', () => [Buffer.from('hel'), Buffer.from('lo')]],
    ['a list of strings', () => ['hel', 'lo']],
    ['a Readable', () => Readable.from(['hel', 'lo'])],
    ['a generator', () => ['hel', 'lo'][Symbol.iterator]()],
    ['an async iterable', () => pieces()],
  ]
  for (const [title, body] of bodies) {
    for (const later of [false, true]) {
      test(`returns ${title}${later ? ' later' : ''}`, async () => {
        const store = new Custom()
        const found = (): unknown => {
          const result = { ...value({ headers: { 'content-length': '5' } }), body: body() }
          return later ? Promise.resolve(result) : result
        }
        store.get = () => found() as CacheGetResult
        const origin = cached(FRESH, { store })
        assert.equal((await origin.get()).body, 'hello')
        assert.equal((await origin.get('/', { range: 'bytes=2-3' })).body, 'll')
        assert.equal((await origin.get('/', { range: 'bytes=0-0' })).body, 'h')
        assert.equal(origin.received.length, 0)
      })
    }
  }

  test('a body that is not read is destroyed', async () => {
    const store = new Custom()
    const body = new Readable({ read() {} })
    store.found = { ...value({ etag: '"1"' }), body }
    const origin = cached(FRESH, { store })
    assert.equal((await origin.get('/', { 'if-none-match': '"1"' })).status, 304)
    assert.equal(body.destroyed, true)
  })

  test('a stream that fails fails the response, and an abort destroys it', async () => {
    const store = new Custom()
    store.found = {
      ...value(),
      body: new Readable({
        read() {
          this.destroy(new Error('disk'))
        },
      }),
    }
    const origin = cached(FRESH, { store })
    assert.equal((await origin.get()).error?.message, 'disk')
    const endless = new Readable({
      read() {
        this.push('x')
      },
    })
    store.found = { ...value(), body: endless }
    const handler = new RecordingHandler({
      onResponseData: (controller) => controller.abort(new Error('enough')),
    })
    origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
    await handler.settled
    await settle()
    assert.equal(handler.error?.message, 'enough')
    assert.equal(endless.destroyed, true)
  })

  test('retry does not resume a stored body that breaks off with a range request to the server', async () => {
    const store = new Custom()
    const body = Readable.from(
      (async function* () {
        yield Buffer.from('he')
        throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      })(),
    )
    store.found = { ...value({ etag: '"1"', headers: { 'content-length': '5', etag: '"1"' } }), body }
    const origin = cached(FRESH, { store })
    const handler = new RecordingHandler()
    const dispatch = interceptors.retry({ minTimeout: 0 })(origin.dispatch)
    dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
    await handler.settled
    assert.deepEqual([handler.body, handler.error?.message], ['he', 'reset'])
    assert.equal(origin.received.length, 0)
  })

  test('without update(), a confirmed response is written again', async (t) => {
    installDate(t)
    for (const body of [() => Buffer.from('hello'), () => Readable.from(['hel', 'lo'])]) {
      const store = new Custom()
      store.found = { ...value({ etag: '"1"', staleAt: Date.now() - 1 }), body: body() }
      const origin = cached({ status: 304, headers: { 'cache-control': 'max-age=60', x: '1' } }, { store })
      assert.equal((await origin.get()).body, 'hello')
      await settle()
      assert.equal(store.written.length, 1)
      assert.equal(store.written[0]!.body.toString(), 'hello')
      assert.equal(store.written[0]!.value.headers['x'], '1')
    }
  })

  test('a caller may abort while get() waits', async () => {
    const store = new Custom()
    store.found = new Promise(() => {})
    const origin = cached(FRESH, { store })
    let abort: (reason: unknown) => void = () => {}
    const handler = Object.assign(new RecordingHandler(), {
      onRequestQueued: (given: typeof abort) => {
        abort = given
      },
    })
    assert.equal(origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler), true)
    abort(new Error('enough'))
    assert.equal(handler.error?.message, 'enough')
    assert.deepEqual(handler.story, ['onResponseError'])
  })

  test('its answer after an abort is thrown away', async () => {
    const store = new Custom()
    let answer: (found: unknown) => void = () => {}
    store.found = new Promise((resolve) => {
      answer = resolve
    })
    const origin = cached(FRESH, { store })
    let abort: (reason: unknown) => void = () => {}
    const handler = Object.assign(new RecordingHandler(), {
      onRequestQueued: (given: typeof abort) => {
        abort = given
      },
    })
    origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
    abort(new Error('enough'))
    const body = new Readable({ read() {} })
    answer({ ...value(), body })
    await settle()
    assert.equal(body.destroyed, true)
    assert.equal(handler.calls.length, 1)
    assert.equal(origin.received.length, 0)
  })

  test('a subclass of MemoryCacheStore with its own createWriteStream is used as any other', async () => {
    let streams = 0
    class Counting extends MemoryCacheStore {
      override createWriteStream(key: CacheKey, given: CacheValue): Writable | undefined {
        streams++
        return super.createWriteStream(key, given)
      }
    }
    const origin = cached(FRESH, { store: new Counting() })
    await origin.get()
    await settle()
    assert.equal((await origin.get()).body, 'hello')
    assert.equal(streams, 1)
  })
})

describe('a store that fails never fails a request', () => {
  const boom = new Error('boom')
  const thrown = (): never => {
    throw boom
  }
  const rows: [title: string, broken: Partial<CacheStore>, operation: string][] = [
    ['get throws', { get: thrown }, 'get'],
    ['get rejects', { get: () => Promise.reject(boom) }, 'get'],
    ['createWriteStream throws', { createWriteStream: thrown }, 'write'],
    [
      'the write stream fails',
      {
        createWriteStream: () =>
          new Writable({
            write(_chunk, _encoding, done) {
              done(boom)
            },
          }),
      },
      'write',
    ],
  ]
  for (const [title, broken, operation] of rows) {
    test(title, async (t) => {
      const messages = errorsOf(t)
      const store = Object.assign(new Custom(), broken)
      const origin = cached(FRESH, { store })
      assert.equal((await origin.get()).body, 'hello')
      await settle()
      assert.equal(messages.length, 1)
      assert.deepEqual([messages[0]!.operation, messages[0]!.error], [operation, boom])
      assert.equal(messages[0]!.key.origin, ORIGIN)
      if (title === 'the write stream fails') assert.equal(store.deleted.length, 1)
    })
  }

  test('createWriteStream rejects', async (t) => {
    const messages = errorsOf(t)
    const store = Object.assign(new Custom(), { createWriteStream: () => Promise.reject(boom) })
    assert.equal((await cached(FRESH, { store: store as never }).get()).body, 'hello')
    await settle()
    assert.deepEqual(
      messages.map(({ operation }) => operation),
      ['write'],
    )
  })

  for (const [title, remove] of [
    ['throws', thrown],
    ['rejects', () => Promise.reject(boom)],
  ] as const) {
    test(`delete ${title}`, async (t) => {
      const messages = errorsOf(t)
      const origin = cached({ status: 200 }, { store: Object.assign(new Custom(), { delete: remove }) })
      assert.equal((await origin.get('/', {}, { method: 'POST' })).status, 200)
      await settle()
      assert.deepEqual(
        messages.map(({ operation, error }) => [operation, error]),
        [['delete', boom]],
      )
    })
  }

  test('update rejects', async (t) => {
    installDate(t)
    const messages = errorsOf(t)
    const store = Object.assign(new Custom(), { update: () => Promise.reject(boom) })
    store.found = { ...value({ etag: '"1"', staleAt: Date.now() - 1 }), body: 'x' }
    const origin = cached({ status: 304, headers: { 'cache-control': 'max-age=60' } }, { store })
    assert.equal((await origin.get()).body, 'x')
    await settle()
    assert.deepEqual(
      messages.map(({ operation }) => operation),
      ['update'],
    )
  })

  for (const found of [null, 5, 'x', {}, { headers: null }, { ...value(), deleteAt: 0 }]) {
    test(`get returns ${JSON.stringify(found)?.slice(0, 30)}`, async () => {
      const store = new Custom()
      store.found = found
      const origin = cached(FRESH, { store })
      assert.equal((await origin.get()).body, 'hello')
      assert.equal(origin.received.length, 1)
    })
  }

  test('slow writes do not slow the caller down, and memory is bounded', async () => {
    const store = new Custom()
    const streams: Writable[] = []
    store.createWriteStream = () => {
      const stream = new Writable({ write() {} })
      streams.push(stream)
      return stream
    }
    const origin = cached(
      { headers: FRESH.headers, body: Array.from({ length: 100 }, () => 'x'.repeat(100_000)) },
      { store },
    )
    assert.equal((await origin.get()).body.length, 10_000_000)
    assert.equal(streams[0]!.destroyed, true)
    assert.ok(streams[0]!.writableLength <= 5_242_880 + 100_000)
    assert.equal(store.deleted.length, 1)
  })

  test('a truncated response destroys the stream and deletes', async () => {
    const store = new Custom()
    const origin = cached({ status: 200, ...FRESH, error: new Error('cut') }, { store })
    assert.equal((await origin.get()).error?.message, 'cut')
    await settle()
    assert.equal(store.written.length, 0)
    assert.equal(store.deleted.length, 1)
  })

  for (const method of ['GET', 'HEAD']) {
    test(`a body of ${method} that fails while get runs fails the request, and not the process`, async () => {
      const { store, answers } = held()
      const origin = cached(FRESH, { store, methods: ['GET', 'HEAD'] })
      const body = new PassThrough()
      const done = origin.get('/', {}, { method, body } as never)
      if (method === 'HEAD') answers.shift()!(undefined)
      await settle()
      const error = new Error('the file is gone')
      assert.deepEqual(await uncaughtDuring(() => body.destroy(error)), [])
      const { errors, story } = await done
      assert.deepEqual([errors, story], [[error], ['onResponseError']])
      answers.shift()!(undefined)
      await settle()
      assert.equal(origin.received.length, 0)
    })
  }

  test('a body is left to the dispatcher when get has answered, and destroyed when it is not needed', async (t) => {
    const clock = installDate(t)
    const { store, answers } = held()
    const origin = cached(FRESH, { store })
    const [sent, aborted, unused, refused] = [1, 2, 3, 4].map(() => new PassThrough())
    const first = origin.get('/', {}, { body: sent! })
    answers.shift()!(undefined)
    await first
    assert.deepEqual([origin.received[0]!.opts.body, sent!.listenerCount('error')], [sent, 0])

    let abort: (reason?: unknown) => void = () => assert.fail('no way to abort')
    const handler = Object.assign(new RecordingHandler(), {
      onRequestQueued: (given: (reason?: unknown) => void) => {
        abort = given
      },
    })
    origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET', body: aborted! }, handler)
    const uncaught = await uncaughtDuring(() => abort())
    assert.deepEqual([handler.error?.name, aborted!.destroyed, uncaught], ['AbortError', true, []])

    answers.length = 0
    const hit = origin.get('/', {}, { body: unused! })
    answers.shift()!({
      ...value(),
      staleAt: clock.now + 1000,
      deleteAt: clock.now + 1000,
      body: ['stored'],
    } as never)
    assert.deepEqual([(await hit).body, unused!.destroyed], ['stored', true])

    const missing = origin.get('/', { 'cache-control': 'only-if-cached' }, { body: refused! })
    answers.shift()!(undefined)
    assert.deepEqual([(await missing).status, refused!.destroyed], [504, true])
    assert.equal(origin.received.length, 1)
  })

  test('no answer for five seconds is a miss, and one that comes later is closed', async (t) => {
    const messages = errorsOf(t)
    const { store, answers } = held()
    const origin = cached(FRESH, { store })
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const handler = new RecordingHandler()
    origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
    t.mock.timers.tick(4999)
    await settle()
    assert.deepEqual([origin.received.length, handler.body], [0, ''])
    t.mock.timers.tick(1)
    await settle()
    assert.deepEqual([handler.errors, handler.body], [[], 'hello'])
    const { operation, error } = messages[0]!
    assert.deepEqual(
      [operation, (error as Error).message],
      ['get', 'the store did not answer within 5000 ms'],
    )
    const body = Readable.from(['late'])
    answers.shift()!({ ...value(), body } as never)
    await settle()
    assert.equal(body.destroyed, true)
  })

  test('a store that did not answer is left alone for half a minute, or until it answers', async (t) => {
    const clock = installDate(t)
    errorsOf(t)
    const { store, answers } = held()
    const origin = cached(FRESH, { store })
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const get = async (): Promise<string> => {
      const handler = new RecordingHandler()
      origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
      await settle()
      return handler.body
    }
    const fail = async (): Promise<void> => {
      assert.equal(await get(), '')
      clock.advance(5000)
      t.mock.timers.tick(5000)
      await settle()
    }
    await fail()
    assert.deepEqual([await get(), answers.length], ['hello', 1], 'not asked again')
    clock.advance(29_999)
    assert.deepEqual([await get(), answers.length], ['hello', 1])
    clock.advance(1)
    await fail()
    assert.equal(answers.length, 2, 'asked once more')
    assert.deepEqual([await get(), answers.length], ['hello', 2])
    answers[1]!(undefined)
    await settle()
    assert.equal(await get(), '')
    assert.equal(answers.length, 3, 'it has answered')
  })

  test('an answer whose fields throw is a miss', async () => {
    const { store, answers } = held()
    const origin = cached(FRESH, { store })
    const handler = new RecordingHandler()
    const unusable = {
      ...value(),
      deleteAt: Number.POSITIVE_INFINITY,
      get staleAt(): number {
        throw new Error('no time')
      },
    }
    const rejections: unknown[] = []
    const onRejection = (reason: unknown): void => void rejections.push(reason)
    process.on('unhandledRejection', onRejection)
    try {
      origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
      answers.shift()!(unusable as never)
      await settle()
    } finally {
      process.off('unhandledRejection', onRejection)
    }
    assert.deepEqual([handler.errors, handler.body, rejections], [[], 'hello', []])
  })
})

/** A store whose answers the test gives. */
function held(): { store: Custom; answers: ((found: CacheGetResult | undefined) => void)[] } {
  const store = new Custom()
  const answers: ((found: CacheGetResult | undefined) => void)[] = []
  store.get = () => new Promise((resolve) => void answers.push(resolve))
  return { store, answers }
}

describe('what a store returns is checked as the input of a peer is', () => {
  const flaws: [title: string, more: Record<string, unknown>][] = [
    ['status 0', { statusCode: 0 }],
    ['status 101', { statusCode: 101 }],
    ['status 206', { statusCode: 206 }],
    ['status 304', { statusCode: 304 }],
    ['status 1e9', { statusCode: 1e9 }],
    ['a status as text', { statusCode: '200' }],
    ['a message with a line', { statusMessage: 'a\r\nb' }],
    ['a header that is a number', { headers: { a: 1 } }],
    ['a header with a line', { headers: { a: '1\r\nb: 2' } }],
    ['a header beyond latin1', { headers: { a: '\u0100' } }],
    ['a list with a number', { headers: { a: ['1', 2] } }],
    ['a name that is none', { headers: { 'a b': '1' } }],
    ['headers that are a list', { headers: ['a', '1'] }],
    ['an ETag with a line', { etag: '"a\r\nb"' }],
    ['an ETag without quotes', { etag: 'a' }],
    ['no cachedAt', { cachedAt: undefined }],
    ['cachedAt beyond all times', { cachedAt: -1e300 }],
    ['staleAt NaN', { staleAt: Number.NaN }],
    ['no deleteAt', { deleteAt: undefined }],
    ['a vary that is text', { vary: 'a' }],
    ['a directive that is text', { cacheControlDirectives: { 'no-cache': 'yes' } }],
    ['a body that is shorter than announced', { headers: { 'content-length': '6' } }],
    ['a body that is a number', { body: 5 }],
    ['a body that claims a length', { body: { length: 1e9 } }],
    ['a body with a part that claims a length', { body: [{ length: 1e9 }] }],
  ]
  for (const [title, more] of flaws) {
    for (const later of [false, true]) {
      test(`${title}${later ? ', later' : ''}`, async (t) => {
        const errors = storeErrors(t)
        const store = new Custom()
        const found = { ...value(), body: Buffer.from('hello'), ...more } as unknown as CacheGetResult
        let deleted = 0
        store.get = () => (deleted > 0 ? undefined : later ? Promise.resolve(found) : found) as CacheGetResult
        store.delete = () => {
          deleted++
        }
        const origin = cached({ body: 'from the origin' }, { store })
        assert.equal((await origin.get()).body, 'from the origin')
        assert.equal(deleted, 1)
        assert.deepEqual(
          errors.map(({ operation }) => operation),
          ['get'],
        )
      })
    }
  }

  test('a part of a streamed body that claims a length fails the response', async () => {
    const store = new Custom()
    store.found = { ...value(), body: Readable.from([{ length: 1e9 }]) }
    assert.match(String((await cached({}, { store }).get()).error), /neither bytes nor text/)
  })

  const streams: [title: string, body: () => unknown, isRight: boolean][] = [
    ['shorter than announced', () => Readable.from([Buffer.from('hell')]), false],
    ['longer than announced', () => Readable.from([Buffer.from('hello'), Buffer.from('!')]), false],
    ['longer in its first part', () => Readable.from([Buffer.from('hello!')]), false],
    ['empty', () => Readable.from([]), false],
    ['of an iterator, shorter', () => new Set(['hel', 'l']), false],
    ['with a part that is neither bytes nor text', () => Readable.from([{ length: 5 }]), false],
    ['as long as announced', () => Readable.from(['hel', 'lo']), true],
    ['of an iterator, as long as announced', () => new Set(['hel', 'lo']), true],
  ]
  for (const [title, body, isRight] of streams) {
    test(`a streamed body ${title}`, async (t) => {
      const errors = storeErrors(t)
      const store = new Custom()
      store.found = { ...value({ headers: { 'content-length': '5' } }), body: body() }
      const handler = await cached({}, { store }).get()
      assert.equal(handler.error === undefined, isRight, String(handler.error))
      assert.ok(handler.body.length <= 5, 'never more than was announced')
      assert.deepEqual(
        errors.map(({ operation }) => operation),
        isRight ? [] : ['get'],
      )
      assert.equal(store.deleted.length, isRight ? 0 : 1)
      if (isRight) assert.equal(handler.body, 'hello')
    })
  }

  test('a range of a streamed body that ends before it', async (t) => {
    const errors = storeErrors(t)
    const store = new Custom()
    const found = value({ headers: { 'content-length': '5' } })
    store.found = { ...found, body: Readable.from(['hel']) }
    const handler = await cached({}, { store }).get('/', { range: 'bytes=1-4' })
    assert.match(String(handler.error), /content-length/)
    assert.equal(errors.length, 1)
    store.found = { ...found, body: Readable.from(['hel', 'lo']) }
    assert.equal((await cached({}, { store }).get('/', { range: 'bytes=1-2' })).body, 'el')
    assert.equal(errors.length, 1)
  })

  test('a streamed body that fails is reported, and stays: it may come the next time', async (t) => {
    const errors = storeErrors(t)
    const store = new Custom()
    const failed = new Error('the disk is slow')
    const body = new Readable({ read: () => body.destroy(failed) })
    store.found = { ...value(), body }
    assert.equal((await cached({}, { store }).get()).error, failed)
    assert.deepEqual(
      errors.map(({ error }) => error),
      [failed],
    )
    assert.equal(store.deleted.length, 0)
  })
})

describe('a removal that a store could not carry out', () => {
  for (const later of [false, true]) {
    test(`${later ? 'rejects' : 'throws'}: the URL is a miss until it is done`, async (t) => {
      const errors = storeErrors(t)
      const store = new Custom()
      const kept = new Map<string, CacheGetResult>()
      let isDown = false
      store.get = ({ path }) => kept.get(path)
      store.createWriteStream = ({ path }, given) => {
        kept.set(path, { ...given, body: Buffer.from(page) })
        return new Writable({ write: (_chunk, _encoding, done) => done() })
      }
      store.delete = ({ path }) => {
        if (isDown && later) return Promise.reject(new Error('down'))
        if (isDown) throw new Error('down')
        kept.delete(path)
        return undefined
      }
      let page = 'old'
      const script = ({ method }: { method: string }): Answer => {
        if (method === 'POST') page = 'new'
        return { ...FRESH, body: page }
      }
      const shared = cache({ store })
      const [a, b] = [scripted(script), scripted(script)]
      const send = async ({ dispatch }: typeof a, path = '/', method = 'GET'): Promise<string> => {
        const handler = new RecordingHandler()
        shared(dispatch)({ origin: ORIGIN, path, method }, handler)
        return (await handler.settled).body
      }
      await send(a)
      await send(a, '/other')
      isDown = true
      await send(a, '/', 'POST')
      await settle()
      assert.equal(await send(a), 'new')
      assert.equal(await send(b), 'new', 'for all dispatchers of the cache')
      assert.equal(await send(a, '/other'), 'old', 'others are not concerned')
      assert.equal((kept.get('/')!.body as Buffer).toString(), 'old', 'nothing is stored over it')
      assert.ok(errors.some(({ operation }) => operation === 'delete'))
      isDown = false
      await eventually(() => !kept.has('/'))
      assert.equal(await send(a), 'new')
      await settle()
      assert.equal((kept.get('/')!.body as Buffer).toString(), 'new')
    })
  }
})
