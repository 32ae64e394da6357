import assert from 'node:assert/strict'
import { Readable, Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { Client, type Dispatcher, errors } from '../../src/index.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { loadOf, overEachWay, startOrigin } from '../support/wire.ts'

const BODY_MESSAGE = 'body must be a string, a Buffer, a Readable stream, an iterable, or an async iterable'
const JSON_MESSAGE = `${BODY_MESSAGE}: send JSON.stringify(body), or use json of http`
const TIME_VALUES = ['1', Number.NaN, Number.POSITIVE_INFINITY, -1, {}, true]

/** One invalid option at a time, with its message. */
const REFUSED: [options: Record<string, unknown>, message: string][] = [
  [{ path: undefined }, 'path must be a string'],
  [{ path: 5 }, 'path must be a string'],
  [{ path: '' }, 'path must be an absolute URL or start with a slash'],
  [{ path: 'a' }, 'path must be an absolute URL or start with a slash'],
  [{ path: 'ftp://a/' }, 'path must be an absolute URL or start with a slash'],
  [{ path: '/a b' }, 'invalid request path'],
  [{ path: '/a\r\nx: y' }, 'invalid request path'],
  [{ path: '/a\u0000' }, 'invalid request path'],
  [{ path: '/\u0100' }, 'invalid request path'],
  [{ method: undefined }, 'method must be a string'],
  [{ method: 1 }, 'method must be a string'],
  [{ method: '' }, 'invalid request method'],
  [{ method: 'GE T' }, 'invalid request method'],
  [{ method: 'GET\r\n' }, 'invalid request method'],
  [{ method: 'GÉT' }, 'invalid request method'],
  [{ upgrade: true }, 'upgrade must be a string'],
  [{ upgrade: {} }, 'upgrade must be a string'],
  [{ upgrade: 'a\r\nb' }, 'invalid upgrade header'],
  ...TIME_VALUES.map((headersTimeout): [Record<string, unknown>, string] => [
    { headersTimeout },
    'invalid headersTimeout',
  ]),
  ...TIME_VALUES.map((bodyTimeout): [Record<string, unknown>, string] => [
    { bodyTimeout },
    'invalid bodyTimeout',
  ]),
  [{ reset: 1 }, 'invalid reset'],
  [{ reset: 'true' }, 'invalid reset'],
  [{ expectContinue: 0 }, 'invalid expectContinue'],
  [{ expectContinue: true, expectContinueTimeout: -1 }, 'invalid expectContinueTimeout'],
  [{ throwOnError: false }, 'invalid throwOnError'],
  [{ throwOnError: true }, 'invalid throwOnError'],
  [{ maxRedirections: 1 }, 'maxRedirections is not supported, use the redirect interceptor'],
  [{ maxRedirections: '0' }, 'maxRedirections is not supported, use the redirect interceptor'],
  [{ typeOfService: -1 }, 'typeOfService must be an integer between 0 and 255'],
  [{ typeOfService: 256 }, 'typeOfService must be an integer between 0 and 255'],
  [{ typeOfService: 1.5 }, 'typeOfService must be an integer between 0 and 255'],
  [{ typeOfService: '1' }, 'typeOfService must be an integer between 0 and 255'],
  [{ body: 0 }, BODY_MESSAGE],
  [{ body: false }, BODY_MESSAGE],
  [{ body: /a/ }, BODY_MESSAGE],
  [{ body: new Date(0) }, BODY_MESSAGE],
  [{ body: {} }, JSON_MESSAGE],
  [{ body: Object.create(null) }, JSON_MESSAGE],
  [{ body: new (class Model {})() }, BODY_MESSAGE],
  [{ body: () => {} }, BODY_MESSAGE],
]

/** All invalid at once: each check precedes the next. */
const CHECK_ORDER: [option: string, value: unknown, message: string][] = [
  ['path', 1, 'path must be a string'],
  ['method', 1, 'method must be a string'],
  ['upgrade', true, 'upgrade must be a string'],
  ['headersTimeout', -1, 'invalid headersTimeout'],
  ['bodyTimeout', -1, 'invalid bodyTimeout'],
  ['reset', 1, 'invalid reset'],
  ['expectContinue', 1, 'invalid expectContinue'],
  ['throwOnError', true, 'invalid throwOnError'],
  ['maxRedirections', 1, 'maxRedirections is not supported, use the redirect interceptor'],
  ['typeOfService', -1, 'typeOfService must be an integer between 0 and 255'],
  ['body', 0, BODY_MESSAGE],
  ['headers', 1, 'headers must be an object or an array'],
]

const QUERIES: [query: Record<string, unknown>, url: string][] = [
  [{ a: '1', b: '2' }, '/x?a=1&b=2'],
  [{ a: ['1', '2'] }, '/x?a=1&a=2'],
  [{ a: null, b: undefined, c: {}, d: () => {}, e: new Date(0) }, '/x?a=&b=&c=&d=&e='],
  [{ a: 1n, b: true, c: 1.5 }, '/x?a=1&b=true&c=1.5'],
  [{ 'a b': 'c d', e: '&=é' }, '/x?a%20b=c%20d&e=%26%3D%C3%A9'],
  [{}, '/x'],
]

overEachWay('request options', (way) => {
  test('each wrong one is refused before anything is opened', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    for (const [options, message] of REFUSED) {
      const error = await failure(client.request({ path: '/', method: 'GET', ...options } as never))
      assert.ok(error instanceof errors.InvalidArgumentError, `${message}: ${error}`)
      assert.equal(error.code, 'UND_ERR_INVALID_ARG')
      assert.equal(error.message, message)
    }
    assert.equal(origin.sockets.length, 0)
    assert.deepEqual(loadOf(client), { connected: 0, pending: 0, running: 0, size: 0 })
  })

  test('are checked in the documented order', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const options: Record<string, unknown> = { path: '/', method: 'GET' }
    for (const [option, value] of CHECK_ORDER) options[option] = value
    for (const [option, , message] of CHECK_ORDER) {
      assert.equal((await failure(client.request(options as never))).message, message)
      options[option] = option === 'path' ? '/' : option === 'method' ? 'GET' : undefined
    }
  })

  test('accept null and the neutral values', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const { statusCode, body } = await client.request({
      path: '/',
      method: 'GET',
      origin: null as unknown as undefined,
      headers: null,
      body: null,
      query: null,
      upgrade: null,
      headersTimeout: 0.5e6,
      bodyTimeout: 0,
      reset: null,
      expectContinue: null,
      idempotent: null,
      blocking: null,
      servername: null,
      typeOfService: 16,
      maxRedirections: 0,
    })
    assert.equal(statusCode, 200)
    await body.dump()
  })

  test('query is serialised and appended', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const [query, url] of QUERIES) {
      const received = await readEcho(await client.request({ path: '/x', method: 'GET', query }))
      assert.equal(received.url, url)
    }
    for (const path of ['/?a=1', '/#a']) {
      const error = await failure(client.request({ path, method: 'GET', query: { b: 1 } }))
      assert.equal(error.message, 'Query params cannot be passed when url already contains "?" or "#".')
      assert.equal(error instanceof errors.UndiciError, false)
    }
  })

  test('origin is ignored by what has one of its own', async (t) => {
    if (way.kind === 'Agent') return t.skip('to an agent, origin is where the request goes')
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const options = { origin: 'http://elsewhere.invalid', path: '/here', method: 'GET' }
    assert.equal((await readEcho(await client.request(options))).url, '/here')
  })

  test('a method of its own reaches the server as it is', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const method of ['PURGE', 'PROPFIND', 'DELETE', 'OPTIONS', 'M-SEARCH']) {
      assert.equal((await readEcho(await client.request({ path: '/', method }))).method, method)
    }
  })

  test('opaque comes back, a falsy one as null', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const opaque of [{ a: 1 }, 'x', 7]) {
      const response = await client.request({ path: '/', method: 'GET', opaque })
      assert.equal(response.opaque, opaque)
      await response.body.dump()
    }
    for (const opaque of [0, '', false, null, undefined]) {
      const response = await client.request({ path: '/', method: 'GET', opaque })
      assert.equal(response.opaque, null)
      await response.body.dump()
    }
  })

  test('a stream body is destroyed with the error, which does not crash the process', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const wrong: Record<string, unknown>[] = [
      { path: 'x' },
      { headers: { 'a b': 'c' } },
      { method: 'CONNECT' },
      { highWaterMark: -1 },
      { signal: 'no' },
      { onInfo: 'no' },
      { upgrade: true },
      { query: { a: 1 }, path: '/?' },
    ]
    for (const options of wrong) {
      const body = new Readable({ read() {} })
      const error = await failure(client.request({ path: '/', method: 'POST', body, ...options } as never))
      assert.equal(body.destroyed, true)
      assert.equal(body.errored, error)
    }
  })
})

describe('options of the convenience methods', () => {
  const client = new Client('http://localhost:1')
  const good = { path: '/', method: 'GET' }
  const factory = () => new Writable()

  test('non-objects are invalid opts', async () => {
    for (const opts of [null, undefined, 1, 'x', () => {}]) {
      for (const call of [
        client.request(opts as never),
        client.stream(opts as never, factory),
        client.connect(opts as never),
        client.upgrade(opts as never),
      ]) {
        const error = await failure(call)
        assert.ok(error instanceof errors.InvalidArgumentError, String(error))
        assert.equal(error.message, 'invalid opts')
      }
    }
  })

  test('a callback that is no function throws, after the options were looked at', () => {
    for (const callback of [null, 'x', {}, 0, false]) {
      const calls = (opts: unknown) => [
        () => client.request(opts as never, callback as never),
        () => client.stream(opts as never, factory, callback as never),
        () => client.connect(opts as never, callback as never),
        () => client.upgrade(opts as never, callback as never),
      ]
      for (const call of calls(good))
        assert.throws(call, { message: 'invalid callback', code: 'UND_ERR_INVALID_ARG' })
      for (const call of calls(null))
        assert.throws(call, { message: 'invalid opts', code: 'UND_ERR_INVALID_ARG' })
    }
  })

  test('argument errors reach a callback in a microtask, with opaque', async () => {
    const opaque = { mine: true }
    const calls: ((callback: (error: Error | null, data: { opaque: unknown }) => void) => unknown)[] = [
      (callback) => client.request({ ...good, opaque, path: 'x' }, callback),
      (callback) => client.stream({ ...good, opaque, path: 'x' }, factory, callback),
      (callback) => client.connect({ opaque, path: 'a b' }, callback),
      (callback) => client.upgrade({ opaque, path: 'x' }, callback),
      (callback) => client.request({ ...good, opaque, signal: 1 } as never, callback),
      (callback) => client.stream({ ...good, opaque }, null as never, callback),
    ]
    for (const call of calls) {
      let inside = true
      const answer = new Promise<[Error | null, { opaque: unknown }]>((resolve) => {
        const returned = call((error, data) => {
          assert.equal(inside, false)
          resolve([error, data])
        })
        assert.equal(returned, undefined)
      })
      inside = false
      const [error, data] = await answer
      assert.ok(error instanceof errors.InvalidArgumentError, String(error))
      assert.equal(data.opaque, opaque)
    }
  })

  const refusals: [Record<string, unknown>, string][] = [
    [{ highWaterMark: -1 }, 'invalid highWaterMark'],
    [{ highWaterMark: '1' }, 'invalid highWaterMark'],
    [{ highWaterMark: Number.NaN }, 'invalid highWaterMark'],
    [{ highWaterMark: Number.POSITIVE_INFINITY }, 'invalid highWaterMark'],
    [{ signal: 'x' }, 'signal must be an EventEmitter or EventTarget'],
    [{ signal: {} }, 'signal must be an EventEmitter or EventTarget'],
    [{ method: 'CONNECT' }, 'invalid method'],
    [{ onInfo: 'x' }, 'invalid onInfo callback'],
  ]

  test('request', async () => {
    for (const [options, message] of refusals) {
      assert.equal((await failure(client.request({ ...good, ...options } as never))).message, message)
    }
    const all = { highWaterMark: -1, signal: 1, method: 'CONNECT', onInfo: 1 }
    assert.equal(
      (await failure(client.request({ ...good, ...all } as never))).message,
      'invalid highWaterMark',
    )
  })

  test('stream', async () => {
    for (const [options, message] of refusals.slice(4)) {
      assert.equal((await failure(client.stream({ ...good, ...options } as never, factory))).message, message)
    }
    assert.equal((await failure(client.stream(good, 'x' as never))).message, 'invalid factory')
  })

  test('pipeline never throws: the returned stream has the error', async () => {
    const pipelineError = (opts: unknown, handler: unknown): Promise<Error> =>
      new Promise((resolve) => {
        const duplex = client.pipeline(opts as never, handler as never)
        assert.equal(duplex.destroyed, true)
        duplex.on('error', resolve)
      })
    for (const [options, message] of refusals.slice(4)) {
      assert.equal((await pipelineError({ ...good, ...options }, () => {})).message, message)
    }
    assert.equal((await pipelineError(null, () => {})).message, 'invalid opts')
    assert.equal((await pipelineError(good, 'x')).message, 'invalid handler')
  })

  test('connect and upgrade', async () => {
    const message = 'signal must be an EventEmitter or EventTarget'
    assert.equal((await failure(client.connect({ path: 'a:1', signal: {} as never }))).message, message)
    assert.equal((await failure(client.upgrade({ path: '/', signal: {} as never }))).message, message)
    assert.equal(
      (await failure(client.upgrade({ path: '/', protocol: 'a\nb' }))).message,
      'invalid upgrade header',
    )
  })
})

describe('dispatch', () => {
  const options = { path: '/', method: 'GET' }

  test('a handler that is no object throws', () => {
    const client = new Client('http://localhost:1')
    for (const handler of [null, undefined, 1, 'x', () => {}]) {
      assert.throws(() => client.dispatch(options, handler as never), {
        message: 'handler must be an object',
        code: 'UND_ERR_INVALID_ARG',
      })
    }
  })

  test('any other error is given to onResponseError at once, with no controller, and nothing else is called', async () => {
    const check = (client: Dispatcher, opts: unknown, kind: new () => Error, message: RegExp) => {
      const handler = new RecordingHandler()
      assert.equal(client.dispatch(opts as never, handler), false)
      assert.deepEqual(handler.calls, ['onResponseError'])
      assert.equal(handler.lastController, null)
      assert.ok(handler.error instanceof kind, String(handler.error))
      assert.match(handler.error.message, message)
      // Without onResponseError the caller gets it.
      assert.throws(() => client.dispatch(opts as never, { onRequestStart() {} }), { message })
    }
    const client = new Client('http://localhost:1')
    for (const opts of [null, undefined, 'x', 1]) {
      check(client, opts, errors.InvalidArgumentError, /^opts must be an object\.$/)
    }
    const foreign = { ...options, dispatcher: client }
    check(
      client,
      foreign,
      errors.InvalidArgumentError,
      /^opts\.dispatcher is not supported by instance methods\./,
    )
    check(client, { ...options, path: 1 }, errors.InvalidArgumentError, /^path must be a string$/)
    const closing = client.close()
    check(client, options, errors.ClientClosedError, /^The client is closed$/)
    await closing
    check(client, options, errors.ClientDestroyedError, /^The client is destroyed$/)
    // The destroyed state is checked before the request.
    check(client, { path: 1 }, errors.ClientDestroyedError, /^The client is destroyed$/)
  })

  const WRONG_HANDLERS: [Record<string, unknown>, string][] = [
    [{ onRequestStart: undefined }, 'invalid onRequestStart method'],
    [{ onRequestStart: 'x' }, 'invalid onRequestStart method'],
    [{ onBodySent: null }, 'invalid onBodySent method'],
    [{ onRequestSent: 1 }, 'invalid onRequestSent method'],
    [{ onResponseStart: undefined }, 'invalid onResponseStart method'],
    [{ onResponseData: undefined }, 'invalid onResponseData method'],
    [{ onResponseEnd: undefined }, 'invalid onResponseEnd method'],
  ]

  test('each missing handler method is named, after the headers were checked', () => {
    const client = new Client('http://localhost:1')
    const complete = {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd() {},
    }
    const attempt = (opts: object, methods: object): string | undefined => {
      let message: string | undefined
      client.dispatch(
        { ...options, ...opts },
        {
          ...complete,
          onResponseError(_controller: unknown, error: Error) {
            message = error.message
          },
          ...methods,
        },
      )
      return message
    }
    for (const [methods, message] of WRONG_HANDLERS) {
      assert.equal(attempt({}, methods), message)
      assert.equal(attempt({ headers: { 'a b': '' } }, methods), 'invalid header key')
    }
    assert.equal(attempt({ upgrade: 'x' }, {}), 'invalid onRequestUpgrade method')
    assert.equal(attempt({ method: 'CONNECT', path: 'a:1' }, {}), 'invalid onRequestUpgrade method')
    assert.throws(() => client.dispatch(options, { ...complete, onResponseError: undefined } as never), {
      message: 'invalid onResponseError method',
    })
  })
})

overEachWay('the value that dispatch returns', (way) => {
  test('tells whether the client is busy; drain follows once', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher({ connections: 1, pipelining: 2 })
    let drains = 0
    client.on('drain', () => drains++)
    const drained = new Promise((resolve) => client.once('drain', resolve))
    const first = new RecordingHandler()
    assert.equal(client.dispatch({ path: '/', method: 'GET' }, first), false)
    await first.settled
    await drained
    assert.equal(drains, 1)
  })

  if (!way.multiplexes) {
    test('is true only with room in the pipeline behind a request that does not block', async (t) => {
      const client = (await startOrigin(t, way, echo)).dispatcher({ connections: 1, pipelining: 3 })
      const blocking = new RecordingHandler()
      client.dispatch({ path: '/', method: 'GET', blocking: true }, blocking)
      await blocking.settled
      const started = new Promise<void>((resolve) => {
        client.dispatch({ path: '/', method: 'GET' }, new RecordingHandler({ onRequestSent: resolve }))
      })
      await started
      const next = new RecordingHandler()
      assert.equal(client.dispatch({ path: '/', method: 'GET' }, next), true)
      const last = new RecordingHandler()
      assert.equal(client.dispatch({ path: '/', method: 'GET', blocking: true }, last), false)
      await Promise.all([next.settled, last.settled])
      assert.equal(last.body.includes('"GET"'), true)
    })
  }
})
