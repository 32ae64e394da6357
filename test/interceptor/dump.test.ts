import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { type DumpInterceptorOptions, errors, fetch, interceptors } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { deferred, failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Listener, startOrigin, type Wire } from '../support/wire.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const

async function setting(t: TestContext, wire: Wire, listener: Listener, options?: DumpInterceptorOptions) {
  const origin = await startOrigin(t, wire, listener)
  const agent = composedAgent(t, wire, interceptors.dump(options))
  return { origin, agent, opts: { origin: origin.url, path: '/', method: 'GET' } }
}

/** `announced`: with a content-length. */
function answering(size: number, announced: boolean, status = 200): Listener {
  return (_request, response) => {
    response.writeHead(status, announced ? { 'content-length': size } : {})
    response.end(Buffer.alloc(size))
  }
}

overTwoWires('interceptors.dump', (wire) => {
  test('the caller gets head and trailers, and no data', async (t) => {
    const { agent, opts } = await setting(
      t,
      wire,
      (_request, response) => {
        response.writeHead(201, { a: 'b', trailer: 'check' })
        response.addTrailers({ check: 'sum' })
        response.end('12345')
      },
      { maxSize: 5 },
    )
    const { statusCode, headers, body, trailers } = await agent.request(opts)
    assert.deepEqual([statusCode, headers['a'], await body.text()], [201, 'b', ''])
    // Also at exactly the limit.
    assert.equal(trailers['check'], 'sum')
  })

  test('a body over the limit, announced or not', async (t) => {
    for (const announced of [true, false]) {
      const { agent, opts } = await setting(t, wire, answering(11, announced), { maxSize: 10 })
      const result = announced ? agent.request(opts) : agent.request(opts).then(({ body }) => body.text())
      const error = await failure(result)
      assert.ok(error instanceof errors.RequestAbortedError)
      assert.equal(error.message, 'Response size (11) larger than maxSize (10)')
    }
    const { agent, opts } = await setting(t, wire, answering(10, true), { maxSize: 10 })
    assert.equal((await agent.request(opts)).statusCode, 200)
    const own = await failure(agent.request({ ...opts, dumpMaxSize: 9 }))
    assert.equal(own.message, 'Response size (10) larger than maxSize (9)')
  })

  test('the length in a response to HEAD, and in a 304, is not a body', async (t) => {
    const { agent, opts } = await setting(
      t,
      wire,
      (request, response) => {
        response.writeHead(request.method === 'HEAD' ? 200 : 304, { 'content-length': 1000 }).end()
      },
      { maxSize: 10 },
    )
    assert.equal((await agent.request({ ...opts, method: 'HEAD' })).statusCode, 200)
    assert.equal((await agent.request(opts)).statusCode, 304)
  })

  test('an abort rejects at once, and the connection is used again', async (t) => {
    const asked = deferred()
    const mayEnd = deferred()
    const { agent, opts, origin } = await setting(t, wire, async (request, response) => {
      if (request.url === '/again') return void response.end()
      response.writeHead(200)
      response.write('begin', () => asked.resolve())
      await mayEnd.promise
      return void response.end('end')
    })
    const abort = new AbortController()
    const response = await agent.request({ ...opts, signal: abort.signal })
    const text = failure(response.body.text())
    await asked.promise
    const reason = new Error('enough')
    abort.abort(reason)
    assert.equal(await text, reason)
    mayEnd.resolve()
    assert.equal((await agent.request({ ...opts, path: '/again' })).statusCode, 200)
    if (!wire.multiplexes) await agent.request({ ...opts, path: '/again' })
    assert.ok(origin.sockets.length <= 2)
    assert.ok(origin.sockets.every((socket) => !socket.destroyed))
  })

  test('stream() and fetch', async (t) => {
    const { agent, opts, origin } = await setting(t, wire, answering(10, true))
    const chunks: unknown[] = []
    await agent.stream(opts, () => new Writable({ write: (chunk) => void chunks.push(chunk) }))
    assert.deepEqual(chunks, [])
    assert.equal(await (await fetch(origin.url, { dispatcher: agent })).text(), '')
  })
})

describe('interceptors.dump: handlers', () => {
  test('the limit is 1 MiB by default', () => {
    for (const [length, message] of [
      [1_048_576, undefined],
      [1_048_577, 'Response size (1048577) larger than maxSize (1048576)'],
    ] as const) {
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler()
      base.compose(interceptors.dump()).dispatch(GET, handler)
      base.last.start().head(200, { 'content-length': String(length) })
      assert.equal(handler.error?.message, message)
    }
  })

  test('an abort is reported at once, before the head too, and once', () => {
    for (const withHead of [true, false]) {
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler()
      base.compose(interceptors.dump()).dispatch(GET, handler)
      base.last.start()
      if (withHead) base.last.head(200).data('begin')
      const controller = handler.controllers[0]!
      controller.pause()
      controller.abort()
      controller.abort()
      assert.ok(handler.error instanceof errors.RequestAbortedError)
      assert.deepEqual([controller.aborted, base.last.aborts], [true, []])
      assert.equal(base.last.log.at(-1), 'resume')
      base.last.handler.onBodySent?.('x')
      base.last.handler.onRequestSent?.()
      base.last.handler.onResponseStarted?.()
      if (!withHead) base.last.head(200)
      base.last.data('rest').end()
      assert.equal(handler.errors.length, 1)
      assert.equal(handler.calls.at(-1), 'onResponseError')
    }
  })

  test('the rest of an aborted response is read up to the limit', () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.dump({ maxSize: 4 })).dispatch(GET, handler)
    base.last.start().head(200)
    handler.controllers[0]!.abort(new Error('enough'))
    base.last.data('1234')
    assert.equal(base.last.aborts.length, 0)
    base.last.data('5').error(new Error('later'))
    assert.equal(base.last.aborts.length, 1)
    assert.deepEqual(
      handler.errors.map(({ message }) => message),
      ['enough'],
    )
  })

  test('an abort before the request has started gives it up', () => {
    const base = new ScriptedDispatcher()
    let abort: (reason?: unknown) => void = () => {}
    const handler = Object.assign(new RecordingHandler(), {
      onRequestQueued: (given: typeof abort) => {
        abort = given
      },
    })
    base.compose(interceptors.dump()).dispatch(GET, handler)
    const reasons: unknown[] = []
    base.last.handler.onRequestQueued!((reason) => reasons.push(reason))
    abort('enough')
    assert.deepEqual(reasons, ['enough'])
  })

  test('wrong options, of the interceptor and of a request', async () => {
    const message = 'maxSize must be a number greater than 0'
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.dump())
    for (const maxSize of [0, 0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, '5']) {
      assert.throws(() => interceptors.dump({ maxSize: maxSize as number }), {
        name: 'InvalidArgumentError',
        message,
      })
      const error = await failure(dispatcher.request({ ...GET, dumpMaxSize: maxSize as number }))
      assert.deepEqual([error.name, error.message], ['InvalidArgumentError', message])
    }
    assert.throws(() => interceptors.dump(1 as never), { message: 'options must be an object' })
    assert.equal(base.exchanges.length, 0)
  })
})
