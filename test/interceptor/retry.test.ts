/** The retry interceptor, `RetryAgent` and `RetryHandler` against servers of the runtime, over every wire. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { describe, it, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  Agent,
  BalancedPool,
  Client,
  type DispatchHandler,
  errors,
  fetch,
  interceptors,
  RetryAgent,
  RetryHandler,
  type RetryOptions,
} from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { contentOf, echo, failure, readEcho } from '../support/exchange.ts'
import { loseConnection } from '../support/lose-connection.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { type Listener, overEachWire, startOrigin } from '../support/wire.ts'
import { GET, REFUSED, RESET, retrying } from './retry-support.ts'

const QUICK: RetryOptions = { minTimeout: 1, maxTimeout: 5 }

/** Fails in this way so many times, then echoes. */
function failing(times: number, fail: Listener): { listener: Listener; requests: string[] } {
  const requests: string[] = []
  const listener: Listener = (request, response) => {
    requests.push(request.method!)
    if (requests.length <= times) fail(request, response)
    else echo(request, response)
  }
  return { listener, requests }
}

const unavailable: Listener = (request, response) => {
  request.resume()
  response.writeHead(503, { 'retry-after': '0' })
  response.end('sorry')
}

overEachWire('interceptors.retry', (wire) => {
  test('a lost connection: GET is sent again, POST is not', async (t) => {
    const { listener, requests } = failing(2, loseConnection)
    const origin = await startOrigin(t, wire, listener)
    const client = origin.client().compose(interceptors.retry(QUICK))
    assert.equal((await readEcho(await client.request({ path: '/', method: 'GET' }))).method, 'GET')
    assert.equal(requests.length, 3)
    requests.length = 0
    const error = await failure(client.request({ path: '/', method: 'POST', body: 'x' }))
    assert.equal(requests.length, 1)
    assert.equal(error['retrySafety'], 'idempotent-only')
    assert.equal((error['attempts'] as unknown[]).length, 1)
  })

  test('a bad status: the body is read, and the connection is used again', async (t) => {
    const { listener, requests } = failing(2, unavailable)
    const origin = await startOrigin(t, wire, listener)
    const client = origin.client().compose(interceptors.retry(QUICK))
    assert.equal((await client.request({ path: '/', method: 'GET' })).statusCode, 200)
    assert.equal(requests.length, 3)
    assert.equal(origin.sockets.length, 1)
  })

  test('the last bad status is an error, or a response', async (t) => {
    const { listener } = failing(Number.POSITIVE_INFINITY, unavailable)
    const origin = await startOrigin(t, wire, listener)
    const options = { ...QUICK, maxRetries: 1 }
    const throwing = origin.client().compose(interceptors.retry(options))
    const error = await failure(throwing.request({ path: '/', method: 'GET' }))
    assert.ok(error instanceof errors.RequestRetryError)
    assert.equal(error.statusCode, 503)
    assert.deepEqual(
      (error as unknown as { attempts: { statusCode: number }[] }).attempts.map((one) => one.statusCode),
      [503, 503],
    )
    const delivering = origin.client().compose(interceptors.retry({ ...options, throwOnError: false }))
    const { statusCode, body } = await delivering.request({ path: '/', method: 'GET' })
    assert.deepEqual([statusCode, await body.text()], [503, 'sorry'])
  })

  test('every body that can be sent again arrives whole', async (t) => {
    const form = new FormData()
    form.set('name', 'value')
    const bodies: [body: unknown, expected: RegExp][] = [
      ['text', /^text$/],
      [Buffer.from('bytes'), /^bytes$/],
      [new Blob(['blob']), /^blob$/],
      [['an ', 'array'], /^an array$/],
      [form, /name="name"[\s\S]*value/],
      [() => Readable.from(['made ', 'anew']), /^made anew$/],
      [
        {
          async *[Symbol.asyncIterator]() {
            yield 'iterable'
          },
        },
        /^iterable$/,
      ],
    ]
    for (const [body, expected] of bodies) {
      const { listener, requests } = failing(1, (request) => {
        contentOf(request).then(
          () => loseConnection(request),
          () => {},
        )
      })
      const origin = await startOrigin(t, wire, listener)
      const client = origin.client().compose(interceptors.retry(QUICK))
      const answer = await client.request({ path: '/', method: 'PUT', body: body as never })
      assert.match((await readEcho(answer)).body, expected)
      assert.equal(requests.length, 2)
    }
  })

  test('a body that is spent is never sent again as an empty one', async (t) => {
    async function* generate(): AsyncGenerator<string> {
      yield 'x'
    }
    const web = (): unknown =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('x'))
          controller.close()
        },
      })
    for (const make of [generate, web, () => Readable.from(['x'])]) {
      const { listener, requests } = failing(1, (request) => {
        contentOf(request).then(
          () => loseConnection(request),
          () => {},
        )
      })
      const origin = await startOrigin(t, wire, listener)
      const client = origin.client().compose(interceptors.retry(QUICK))
      await failure(client.request({ path: '/', method: 'PUT', body: make() as never }))
      assert.equal(requests.length, 1)
    }
  })

  test('security row 9: 429 and 503 with endless bodies are dropped', async (t) => {
    for (const status of [429, 503]) {
      let closed = 0
      const { listener, requests } = failing(1, (_request, response) => {
        response.writeHead(status)
        const more = (): void => {
          while (response.write(Buffer.alloc(16_384)));
        }
        response.on('drain', more)
        response.on('close', () => closed++)
        response.on('error', () => {})
        more()
      })
      const origin = await startOrigin(t, wire, listener)
      const client = origin.client().compose(interceptors.retry(QUICK))
      assert.equal((await readEcho(await client.request({ path: '/', method: 'GET' }))).method, 'GET')
      assert.deepEqual([requests.length, closed], [2, 1])
    }
  })

  test('a response that breaks off is completed', async (t) => {
    const whole = Buffer.alloc(100_000, 'abcdefghij')
    const ranges: (string | undefined)[] = []
    const origin = await startOrigin(t, wire, (request, response) => {
      const { range } = request.headers
      ranges.push(range)
      const first = range === undefined ? 0 : Number(/\d+/.exec(range)![0])
      const last = whole.length - 1
      const status = range === undefined ? 200 : 206
      response.writeHead(status, {
        etag: '"a"',
        'content-length': whole.length - first,
        ...(range !== undefined && { 'content-range': `bytes ${first}-${last}/${whole.length}` }),
      })
      if (ranges.length === 3) response.end(whole.subarray(first))
      else
        response.write(whole.subarray(first, first + 30_000), () =>
          setImmediate(() => loseConnection(request)),
        )
    })
    const client = origin.client().compose(interceptors.retry(QUICK))
    const { body } = await client.request({ path: '/', method: 'GET' })
    assert.deepEqual(Buffer.from(await body.arrayBuffer()), whole)
    assert.equal(ranges.length, 3)
  })

  test('stream() and fetch() are retried, too', async (t) => {
    const { listener, requests } = failing(1, unavailable)
    const origin = await startOrigin(t, wire, listener)
    const agent = new RetryAgent(origin.client(), QUICK)
    const sink = new PassThrough()
    const text = contentOf(sink)
    await agent.stream({ path: '/', method: 'GET' }, () => sink)
    assert.match((await text).toString(), /"method":"GET"/)
    assert.equal(requests.length, 2)
    requests.length = 0
    assert.equal((await fetch(origin.url, { dispatcher: agent })).status, 200)
    assert.equal(requests.length, 2)
    requests.length = 0
    const runtime = await globalThis.fetch(origin.url, { dispatcher: agent } as object)
    assert.equal(((await runtime.json()) as { method: string }).method, 'GET')
    assert.equal(requests.length, 2)
  })

  test('a decoded body is not resumed: its bytes are not those of the server', async (t) => {
    const packed = gzipSync(randomBytes(100_000))
    let requests = 0
    const origin = await startOrigin(t, wire, (request, response) => {
      requests++
      response.writeHead(200, { 'content-encoding': 'gzip', etag: '"a"', 'content-length': packed.length })
      response.write(packed.subarray(0, 50_000), () => setImmediate(() => loseConnection(request)))
    })
    const client = origin.client().compose(interceptors.decompress(), interceptors.retry(QUICK))
    const { body } = await client.request({ path: '/', method: 'GET' })
    await failure(body.arrayBuffer())
    assert.equal(requests, 1)
  })

  test('an open circuit is waited for', async (t) => {
    const { listener, requests } = failing(2, (request, response) => {
      request.resume()
      response.writeHead(503)
      response.end()
    })
    const origin = await startOrigin(t, wire, listener)
    const client = origin
      .client()
      .compose(interceptors.circuitBreaker({ minRequests: 2, halfOpenAfter: 10 }), interceptors.retry(QUICK))
    assert.equal((await client.request({ path: '/', method: 'GET' })).statusCode, 200)
    assert.equal(requests.length, 3)
  })

  test('an abort in the wait rejects at once', async (t) => {
    const origin = await startOrigin(t, wire, loseConnection)
    const client = origin.client().compose(interceptors.retry({ minTimeout: 30_000 }))
    const aborter = new AbortController()
    const request = failure(client.request({ path: '/', method: 'GET', signal: aborter.signal }))
    await new Promise((resolve) =>
      origin.server.once('connection', (socket) => socket.once('close', resolve)),
    )
    const reason = new Error('enough')
    aborter.abort(reason)
    assert.equal(await request, reason)
  })
})

describe('interceptors.retry on a real connection', () => {
  it('a refused connection is safe to repeat, also for POST and for a body that was not read', async (t) => {
    const port = await refusingPort(t)
    const client = new Client(`http://127.0.0.1:${port}`)
    t.after(() => client.destroy())
    const composed = client.compose(interceptors.retry({ ...QUICK, maxRetries: 2 }))
    async function* generate(): AsyncGenerator<string> {
      yield 'x'
    }
    for (const body of ['x', generate()]) {
      const error = await failure(composed.request({ path: '/', method: 'POST', body }))
      assert.equal(error['code'], 'ECONNREFUSED')
      assert.equal((error['attempts'] as unknown[]).length, 3)
    }
  })

  it('security row 10: a polluted prototype changes nothing', async (t) => {
    const polluted = Object.prototype as Record<string, unknown>
    const names = [
      'maxRetries',
      'retryOptions',
      'dispatch',
      'retrySafety',
      'methods',
      'idempotent',
      'statusCode',
      'retry',
    ]
    const { base, send, delays } = retrying(t)
    t.after(() => {
      for (const name of names) delete polluted[name]
    })
    Object.assign(polluted, {
      maxRetries: 0,
      retryOptions: { maxRetries: 0 },
      dispatch: () => assert.fail('the polluted dispatch'),
      retrySafety: 'safe',
      methods: ['POST'],
      idempotent: true,
      retry: () => assert.fail('the polluted policy'),
    })
    send()
    base.last.start().error(Object.assign(new Error('x'), { code: 'ECONNRESET' }))
    assert.deepEqual(delays(), [500])
    const post = send({ method: 'POST' })
    base.last.start().error(Object.assign(new Error('x'), { code: 'ECONNRESET' }))
    assert.equal(post.errors.length, 1)
    assert.throws(() => new RetryAgent({} as never), {
      message: 'Argument dispatcher must implement dispatch',
    })
  })
})

describe('RetryAgent', () => {
  it('retries, with the options of a request merged over its own', async (t) => {
    const { clock } = retrying(t)
    const base = new ScriptedDispatcher()
    const agent = new RetryAgent(base, { jitter: 0, maxRetries: 3 })
    const handler = new RecordingHandler()
    agent.dispatch({ ...GET, retryOptions: { maxRetries: 1 } }, handler)
    base.last.start().error(RESET())
    await clock.advance(500)
    base.last.start().error(RESET())
    assert.equal(base.exchanges.length, 2)
    assert.equal(handler.errors.length, 1)
  })

  it('refuses what is no dispatcher, and wrong options', () => {
    for (const value of [undefined, null, {}, 5]) {
      assert.throws(() => new RetryAgent(value as never), {
        name: 'InvalidArgumentError',
        message: 'Argument dispatcher must implement dispatch',
      })
    }
    assert.throws(() => new RetryAgent(new Agent(), { maxRetries: -2 }), { message: 'invalid maxRetries' })
  })

  it('has the origin, the WebSocket options and the events of the dispatcher', async (t) => {
    const client = new Client('http://own.test', { webSocket: { maxPayloadSize: 7 } })
    const agent = new RetryAgent(client)
    t.after(() => agent.destroy())
    const seen: unknown[] = []
    const look = (_dispatch: unknown, origin: unknown): ((a: unknown, b: unknown) => boolean) => {
      seen.push(origin)
      return (_opts, _handler) => true
    }
    agent.compose(look)
    new RetryAgent(new Agent()).compose(look)
    new RetryAgent(new BalancedPool('http://own.test')).compose(look)
    new RetryAgent({ dispatch: () => true } as never).compose(look)
    assert.deepEqual(seen, ['http://own.test', undefined, null, undefined])
    assert.equal(agent.webSocketOptions.maxPayloadSize, 7)
    const events: unknown[] = []
    for (const name of ['connect', 'disconnect', 'connectionError', 'drain'] as const) {
      agent.on(name, (_origin: URL, targets: readonly unknown[]) => events.push(name, targets))
      client.emit(name, new URL('http://own.test'), [client])
      assert.deepEqual(events.splice(0), [name, [agent, client]])
    }
    agent.on('error', (error) => events.push(error))
    agent.on('ping', (time) => events.push(time))
    const error = new Error('x')
    client.emit('error', error)
    client.emit('ping', 5)
    assert.deepEqual(events, [error, 5])
  })

  it('close() lets a request finish that waits for its next attempt', async (t) => {
    const { clock } = retrying(t)
    const client = new Client('http://own.test')
    const base = new ScriptedDispatcher()
    const inner = Object.assign(base, {
      close: client.close.bind(client),
      destroy: client.destroy.bind(client),
    })
    const agent = new RetryAgent(inner, { jitter: 0 })
    const handler = new RecordingHandler()
    agent.dispatch(GET, handler)
    base.last.start().error(RESET())
    let done = false
    const closed = agent.close().then(() => {
      done = true
    })
    assert.equal(agent.closed, true)
    const late = new RecordingHandler()
    agent.dispatch(GET, late)
    assert.ok(late.error instanceof errors.ClientClosedError)
    await clock.advance(500)
    assert.deepEqual([done, client.closed], [false, false])
    base.last.start().head(200).end()
    await closed
    assert.equal(handler.status, 200)
    assert.deepEqual([agent.destroyed, client.destroyed], [true, true])
  })

  it('destroy() fails a request that waits, with its reason', async (t) => {
    for (const reason of [new Error('mine'), null]) {
      const { clock } = retrying(t)
      const client = new Client('http://own.test')
      const base = Object.assign(new ScriptedDispatcher(), { destroy: client.destroy.bind(client) })
      const agent = new RetryAgent(base)
      const handler = new RecordingHandler({
        onResponseError: () => {
          throw new Error('in the handler')
        },
      })
      agent.dispatch(GET, handler)
      base.last.start().error(REFUSED())
      const called = new Promise((resolve) => agent.destroy(reason, resolve))
      if (reason) assert.equal(handler.error, reason)
      else assert.ok(handler.error instanceof errors.ClientDestroyedError)
      await called
      assert.deepEqual([agent.destroyed, client.destroyed], [true, true])
      assert.equal(clock.active.size, 0)
    }
  })

  it('a call that the dispatcher throws at is answered, and not waited for', async () => {
    const client = new Client('http://own.test')
    const base = Object.assign(
      new ScriptedDispatcher(() => {
        throw new Error('no')
      }),
      { close: client.close.bind(client), destroy: client.destroy.bind(client) },
    )
    const agent = new RetryAgent(base)
    assert.equal((await failure(agent.request(GET))).message, 'no')
    await agent.close()
  })
})

describe('RetryHandler', () => {
  it('is the handler of the first attempt, and sends the others', async (t) => {
    const { clock } = retrying(t)
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    const dispatch = base.dispatch.bind(base)
    const retryOptions = { jitter: 0, maxRetries: 1 }
    const made = new RetryHandler({ ...GET, retryOptions }, { dispatch, handler })
    assert.ok(made instanceof RetryHandler)
    dispatch(GET, made)
    base.last.start().error(RESET())
    await clock.advance(500)
    base.last.start().head(200).data('x').end()
    assert.equal(handler.body, 'x')
    assert.equal(base.exchanges.length, 2)
  })

  it('takes a handler of the older generation', async (t) => {
    const { clock } = retrying(t)
    const base = new ScriptedDispatcher()
    const log: string[] = []
    const handler = {
      onConnect: () => void log.push('connect'),
      onHeaders: (status: number) => log.push(`${status}`) > 0,
      onData: () => true,
      onComplete: () => void log.push('complete'),
      onError: () => void log.push('error'),
    }
    const dispatch = (opts: typeof GET, one: DispatchHandler): boolean => base.dispatch(opts, one)
    dispatch(
      GET,
      new RetryHandler({ ...GET, retryOptions: { jitter: 0 } }, { dispatch: dispatch as never, handler }),
    )
    base.last.start().error(RESET())
    await clock.advance(500)
    base.last.start().head(200).end()
    assert.deepEqual(log, ['connect', 'connect', '200', 'complete'])
  })

  it('refuses what it cannot work with', () => {
    const handler = new RecordingHandler()
    assert.throws(() => new RetryHandler(GET, { handler } as never), {
      message: 'dispatch must be a function',
    })
    assert.throws(() => new RetryHandler(GET, { dispatch: () => true, handler: null as never }), {
      message: 'handler must be an object',
    })
    assert.throws(
      () => new RetryHandler({ ...GET, retryOptions: { maxRetries: -2 } }, { dispatch: () => true, handler }),
      { message: 'invalid maxRetries' },
    )
  })

  it('an idempotency key that the first attempt had not is not invented for the next', (t) => {
    const { delays } = retrying(t)
    const base = new ScriptedDispatcher()
    const dispatch = base.dispatch.bind(base)
    const handler = new RecordingHandler()
    const opts = { ...GET, method: 'POST', retryOptions: { idempotencyKey: true } }
    dispatch(opts, new RetryHandler(opts, { dispatch, handler }))
    base.last.start().error(RESET())
    assert.equal(handler.errors.length, 1)
    assert.deepEqual(delays(), [])
  })
})

overEachWire('a dispatcher that is destroyed between two attempts', (wire) => {
  test('fails the request with that, and with what the attempt before failed with', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.statusCode = 503
      response.end()
    })
    const client = origin.client()
    const retrying = client.compose(
      interceptors.retry({
        retry(error, { state }, callback) {
          if (state.counter > 1) callback(error)
          else void client.destroy().then(() => callback(null))
        },
      }),
    )
    const error = await failure(retrying.request({ origin: origin.url, path: '/', method: 'GET' }))
    assert.ok(error instanceof errors.ClientDestroyedError)
    assert.equal((error.cause as { statusCode?: number }).statusCode, 503)
  })
})
