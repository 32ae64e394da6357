/** How a mocked request proceeds: as against a server, with its checks, time limits, aborts and pauses. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import {
  type DispatchController,
  type DispatchHandler,
  type DispatchOptions,
  MockAgent,
} from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { mocking, ORIGIN } from './mocking.ts'

const GET = { origin: ORIGIN, path: '/', method: 'GET' } as const
const POST = { origin: ORIGIN, path: '/', method: 'POST' } as const

describe('the calls of a handler', () => {
  test('the calls of a handler all come inside dispatch, in order', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/', method: 'POST' }).reply(200, 'ok', { trailers: { t: '1' } })
    const handler = new RecordingHandler()
    assert.equal(agent.dispatch({ ...POST, body: 'sent' }, handler), true)
    assert.deepEqual(handler.calls, [
      'onRequestStart',
      'onBodySent',
      'onRequestSent',
      'onResponseStart',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.equal(handler.context, null)
    assert.equal(Buffer.concat(handler.sent as Buffer[]).toString(), 'sent')
    assert.deepEqual(handler.trailers, { t: '1' })
  })

  test('a handler gets an empty body as one empty piece', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200)
    const handler = new RecordingHandler()
    agent.dispatch(GET, handler)
    assert.deepEqual(handler.chunks.map(String), [''])
  })

  test('a streamed body is read for a handler that wants to know, and only then', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/', method: 'POST' }).reply(200, 'ok').persist()
    const handler = new RecordingHandler()
    agent.dispatch({ ...POST, body: Readable.from(['a', 'b']) }, handler)
    await handler.settled
    assert.deepEqual(handler.sent, ['a', 'b'])
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onBodySent',
      'onBodySent',
      'onRequestSent',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    let reads = 0
    const body = {
      [Symbol.asyncIterator]: () => {
        reads++
        throw new Error('unexpected')
      },
    }
    const { statusCode } = await agent.request({ ...POST, body: body as never })
    assert.deepEqual([statusCode, reads], [200, 0])
  })

  test('a body that fails while it is read fails the request', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/', method: 'POST' }).reply(200, 'ok').persist()
    const handler = new RecordingHandler()
    async function* pieces(): AsyncGenerator<string> {
      yield 'a'
      throw new Error('broken')
    }
    agent.dispatch({ ...POST, body: pieces() }, handler)
    await handler.settled
    assert.equal(handler.error!.message, 'broken')
  })

  test('a handler gets informational heads first', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'ok', {
      informational: [{ statusCode: 103, headers: { link: '</a>' } }, { statusCode: 102 }],
    })
    const infos: unknown[] = []
    const { statusCode } = await agent.request({ ...GET, onInfo: (info) => infos.push(info) })
    assert.equal(statusCode, 200)
    assert.deepEqual(infos, [
      { statusCode: 103, headers: { link: '</a>' } },
      { statusCode: 102, headers: {} },
    ])
  })

  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    test(`a ${status} to ${method} has no body, but its length`, (t) => {
      const { agent, pool } = mocking(t)
      pool.intercept({ path: '/', method }).replyContentLength().reply(status, 'body')
      const handler = new RecordingHandler()
      agent.dispatch({ ...GET, method }, handler)
      assert.deepEqual(handler.calls.slice(-2), ['onResponseStart', 'onResponseEnd'])
      assert.equal(handler.headers!['content-length'], '4')
    })
  }

  test('upgrade and connect are refused by an ordinary reply', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: /./, method: /./ }).reply(200, 'x').persist()
    assert.equal((await failure(agent.upgrade({ ...GET, origin: ORIGIN }))).message, 'bad upgrade')
    assert.equal((await failure(agent.connect({ ...GET, origin: ORIGIN }))).message, 'bad connect')
  })

  test('a handler of the older generation is called', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'ok')
    const calls: string[] = []
    agent.dispatch(GET, {
      onConnect: () => calls.push('onConnect'),
      onHeaders: (status: number) => calls.push(`onHeaders ${status}`),
      onData: (chunk: Buffer) => calls.push(`onData ${chunk}`),
      onComplete: () => calls.push('onComplete'),
      onError: (error: Error) => assert.fail(error),
    } as DispatchHandler)
    assert.deepEqual(calls, ['onConnect', 'onHeaders 200', 'onData ok', 'onComplete'])
  })

  test('a handler whose onResponseError throws is reported by the error event', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).replyWithError(new Error('reply'))
    const thrown = new Error('thrown')
    const errors: Error[] = []
    agent.on('error', (error) => errors.push(error))
    agent.dispatch(
      GET,
      new RecordingHandler({
        onResponseError: () => {
          throw thrown
        },
      }),
    )
    assert.deepEqual(errors, [thrown])
  })
})

describe('the checks of a request', () => {
  const wrong: [Partial<DispatchOptions> | object, string][] = [
    [{ headers: { 'a b': '1' } }, 'invalid header key'],
    [{ headers: { a: 'b\r\nc' } }, 'invalid a header'],
    [{ headersTimeout: -1 }, 'invalid headersTimeout'],
    [{ body: 5 }, 'body must be a string, a Buffer, a Readable stream, an iterable, or an async iterable'],
    [{ path: 5 }, 'path must be a string'],
    [{ method: undefined }, 'method must be a string'],
    [
      { headers: { 'content-length': '5' }, body: 'x' },
      'Request body length does not match content-length header',
    ],
  ]
  for (const [options, message] of wrong) {
    test(`a mocked request fails its checks: ${message}`, async (t) => {
      const { agent, pool } = mocking(t)
      pool.intercept({ path: /./, method: /./ }).reply(200)
      const error = await failure(agent.request({ ...POST, ...options } as never))
      assert.equal(error.message, message)
    })
  }

  test('a request that fails its checks does not use up the interceptor', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200)
    await failure(agent.request({ ...GET, headersTimeout: -1 }))
    assert.equal((await agent.request(GET)).statusCode, 200)
  })

  test('maxResponseSize holds for mocked replies', async (t) => {
    const { agent, pool } = mocking(t, { maxResponseSize: 3 })
    pool.intercept({ path: '/' }).reply(200, 'four')
    const { body } = await agent.request(GET)
    assert.equal((await failure(body.text())).code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
  })
})

describe('delay', () => {
  for (const [name, define] of [
    ['a reply', (pool) => pool.intercept({ path: '/' }).reply(200)],
    ['a function', (pool) => pool.intercept({ path: '/' }).reply(() => ({ statusCode: 200 }))],
    ['an error', (pool) => pool.intercept({ path: '/' }).replyWithError(new Error('x'))],
  ] as [string, (pool: ReturnType<MockAgent['get']>) => { delay(ms: number): unknown }][]) {
    test(`delay holds back ${name}, with a timer that keeps the process alive`, async (t) => {
      const clock = FakeClock.install(t)
      const { agent, pool } = mocking(t)
      define(pool as never).delay(1000)
      const handler = new RecordingHandler()
      agent.dispatch(GET, handler)
      await clock.advance(999)
      assert.equal(handler.calls.at(-1), 'onRequestSent')
      assert.ok([...clock.active].some(({ delay, referenced }) => delay === 1000 && referenced))
      await clock.advance(1)
      await handler.settled
      assert.equal(clock.active.size, 0)
    })
  }

  test('delay is at most what a timer can wait', async (t) => {
    const warnings: string[] = []
    const onWarning = ({ name }: Error): void => void warnings.push(name)
    process.on('warning', onWarning)
    t.after(() => process.off('warning', onWarning))
    for (const wire of [false, true]) {
      const { agent, pool } = mocking(t, { wire })
      pool
        .intercept({ path: '/' })
        .reply(200)
        .delay(2 ** 40)
      const signal = AbortSignal.timeout(20)
      const error = await failure(agent.request({ ...GET, signal }))
      assert.equal(error.name, 'TimeoutError')
    }
    assert.deepEqual(warnings, [])
  })

  test('an abort during a delay rejects at once, and leaves no timer', async (t) => {
    const clock = FakeClock.install(t)
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200).delay(1000)
    const abort = new AbortController()
    const response = failure(agent.request({ ...GET, signal: abort.signal }))
    const reason = new Error('enough')
    abort.abort(reason)
    assert.equal(await response, reason)
    assert.equal(clock.active.size, 0)
    // A match counts, even if the request is aborted.
    assert.match((await failure(agent.request(GET))).message, /0 interceptor\(s\) remaining out of 1 defined/)
  })
})

describe('time limits', () => {
  test('headersTimeout, of the request and of the agent, limits a mocked reply', async (t) => {
    const clock = FakeClock.install(t)
    const { agent, pool } = mocking(t, { headersTimeout: 500 })
    pool.intercept({ path: '/' }).reply(200).delay(1000).persist()
    pool
      .intercept({ path: '/never' })
      .reply(200, () => new Promise(() => {}))
      .persist()
    for (const [options, timeout] of [
      [{}, 500],
      [{ headersTimeout: 100 }, 100],
    ] as const) {
      for (const path of ['/', '/never']) {
        const error = failure(agent.request({ ...GET, path, ...options }))
        await clock.advance(timeout)
        const { code, message, phase, retrySafety } = await error
        assert.deepEqual([code, message], ['UND_ERR_HEADERS_TIMEOUT', 'Headers Timeout Error'])
        assert.deepEqual([phase, retrySafety], ['headers', 'idempotent-only'])
      }
    }
    assert.equal(clock.active.size, 0)
  })

  test('bodyTimeout limits a mocked body, but not while the consumer pauses', async (t) => {
    const clock = FakeClock.install(t)
    const { agent, pool } = mocking(t)
    async function* slow(): AsyncGenerator<string> {
      yield 'a'
      await new Promise(() => {})
    }
    pool
      .intercept({ path: '/' })
      .reply(200, () => slow())
      .persist()
    const { body } = await agent.request({ ...GET, bodyTimeout: 100 })
    const error = failure(body.text())
    await turns(1)
    await clock.advance(100)
    assert.equal((await error).code, 'UND_ERR_BODY_TIMEOUT')

    const handler = new RecordingHandler({ onResponseData: (controller) => controller.pause() })
    agent.dispatch({ ...GET, bodyTimeout: 100 }, handler)
    await turns(2)
    await clock.advance(1000)
    assert.equal(handler.error, undefined)
    handler.controller!.resume()
    await clock.advance(100)
    assert.equal(handler.error!.message, 'Body Timeout Error')
  })

  test('a time limit of 0 is forever', async (t) => {
    const clock = FakeClock.install(t)
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200).delay(10_000_000)
    const response = agent.request({ ...GET, headersTimeout: 0 })
    await clock.advance(10_000_000)
    assert.equal((await response).statusCode, 200)
  })
})

describe('aborts', () => {
  test('an abort before, within each call, and after', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'ok').persist()
    const reason = new Error('enough')
    for (const method of ['onRequestStart', 'onRequestSent', 'onResponseStart', 'onResponseData'] as const) {
      const handler = new RecordingHandler((called, { controller }) => {
        if (called === method) controller!.abort(reason)
      })
      agent.dispatch(GET, handler)
      assert.deepEqual(handler.calls.slice(-2), [method, 'onResponseError'])
      assert.deepEqual(handler.errors, [reason])
    }
    const handler = new RecordingHandler()
    agent.dispatch(GET, handler)
    handler.controller!.abort(reason)
    assert.equal(handler.calls.at(-1), 'onResponseEnd')
  })

  test('an aborted signal sends nothing and uses nothing up', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200)
    await failure(agent.request({ ...GET, signal: AbortSignal.abort() }))
    assert.equal(agent.pendingInterceptors().length, 1)
  })

  test('an abort while a body is collected', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/', method: 'POST', body: 'x' }).reply(200)
    const abort = new AbortController()
    const body = new Readable({ read() {} })
    const error = failure(agent.request({ ...POST, body, signal: abort.signal }))
    await turns(1)
    abort.abort(new Error('enough'))
    assert.equal((await error).message, 'enough')
    assert.equal(body.destroyed, true)
    await agent.close()
  })

  test('an abort while a body is streamed destroys its source', async (t) => {
    const { agent, pool } = mocking(t)
    const source = new Readable({ read() {} })
    pool.intercept({ path: '/' }).reply(200, source)
    const { body } = await agent.request(GET)
    source.push('a')
    await eventually(() => body.readableLength > 0 || source.readableLength === 0)
    body.on('error', () => {}).destroy()
    await eventually(() => source.destroyed)
  })

  test('destroying the agent while a body is collected fails the request', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/', method: 'POST', body: 'x' }).reply(200)
    const error = failure(agent.request({ ...POST, body: new Readable({ read() {} }) }))
    await turns(1)
    await agent.destroy()
    assert.equal((await error).code, 'UND_ERR_DESTROYED')
  })
})

describe('pause', () => {
  test('pause holds back a mocked body, and resume delivers it', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'ok').persist()
    const steps: [keyof DispatchHandler, string[]][] = [
      ['onResponseStart', ['onResponseData', 'onResponseEnd']],
      ['onResponseData', ['onResponseEnd']],
    ]
    for (const [method, rest] of steps) {
      const handler = new RecordingHandler((called, { controller }) => {
        if (called === method) controller!.pause()
      })
      agent.dispatch(GET, handler)
      assert.equal(handler.calls.at(-1), method)
      const before = handler.calls.length
      handler.controller!.resume()
      assert.deepEqual(handler.calls.slice(before), rest)
    }
  })

  test('pause and resume within a call change nothing', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'ok')
    const flip = (controller: DispatchController): void => {
      controller.pause()
      controller.resume()
    }
    const handler = new RecordingHandler({ onResponseStart: flip, onResponseData: flip })
    agent.dispatch(GET, handler)
    assert.deepEqual(handler.calls.slice(-3), ['onResponseStart', 'onResponseData', 'onResponseEnd'])
  })

  test('a streamed body is read at the speed of its consumer', async (t) => {
    const { agent, pool } = mocking(t)
    let made = 0
    function* pieces(): Generator<string> {
      for (; made < 1000; made++) yield 'x'.repeat(1024)
    }
    pool.intercept({ path: '/' }).reply(200, () => pieces())
    const handler = new RecordingHandler({ onResponseData: (controller) => controller.pause() })
    agent.dispatch(GET, handler)
    await turns(5)
    assert.equal(handler.chunks.length, 1)
    assert.ok(made <= 2)
    handler.controller!.resume()
    await turns(5)
    assert.equal(handler.chunks.length, 2)
  })
})

test('nothing of mocked requests is left after close', async () => {
  const agent = new MockAgent()
  agent.disableNetConnect()
  const pool = agent.get(ORIGIN)
  const resources = (): string[] =>
    process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|Pipe/.test(name))
  const before = resources().length
  pool.intercept({ path: '/' }).reply(200, 'x').delay(1)
  pool.intercept({ path: '/' }).reply(200, async () => 'x')
  pool.intercept({ path: '/' }).reply(200, Readable.from(['x']))
  for (let i = 0; i < 3; i++) await (await agent.request(GET)).body.text()
  await agent.close()
  assert.equal(resources().length, before)
})
