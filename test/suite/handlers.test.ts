import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import {
  type DispatchController,
  type Dispatcher,
  type DispatchHandler,
  errors,
  interceptors,
} from '../../src/index.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { deferred, echo, readEcho } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { ONE_AT_A_TIME, overEachWay, startOrigin } from '../support/wire.ts'

/** Over a pool or an agent it would only take longer. */
const CLIENT_ONLY = "backpressure is the connection's, whatever dispatcher chose it"

const GET = { path: '/', method: 'GET' }
const POST = { path: '/', method: 'POST' }

/** Collects the reasons of disconnects. */
function reasons(client: Dispatcher): Error[] {
  const list: Error[] = []
  client.on('disconnect', (_origin, _targets, error: Error) => list.push(error))
  return list
}

overEachWay('the controller', (way) => {
  test('knows the version of HTTP that the connection speaks, also with what passes it on', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const dispatcher of [client, client.compose(interceptors.retry(), interceptors.decompress())]) {
      const handler = new RecordingHandler()
      dispatcher.dispatch(GET, handler)
      await handler.settled
      assert.equal(handler.controller?.httpVersion, way.multiplexes ? '2' : '1.1')
    }
  })
})

overEachWay('the order of handler calls', (way) => {
  test('with a body in both directions', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const handler = new RecordingHandler()
    client.dispatch({ ...POST, body: ['a', 'b'] }, handler)
    await handler.settled
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onBodySent',
      'onBodySent',
      'onRequestSent',
      'onResponseStarted',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.deepEqual(handler.trailers, {})
  })

  test('without a response body', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        if (request.method === 'GET') response.statusCode = Number(request.url?.slice(1))
        response.end()
      })
    ).dispatcher()
    for (const options of [
      { path: '/', method: 'HEAD' },
      { path: '/204', method: 'GET' },
      { path: '/304', method: 'GET' },
    ]) {
      const handler = new RecordingHandler()
      client.dispatch(options, handler)
      await handler.settled
      assert.deepEqual(handler.story, [
        'onRequestStart',
        'onRequestSent',
        'onResponseStarted',
        `onResponseStart ${options.path.slice(1) || 200}`,
        'onResponseEnd',
      ])
    }
  })

  test('with informational heads, each of which begins a message', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.writeEarlyHints({ link: '</a>' })
        response.end('x')
      })
    ).dispatcher()
    const handler = new RecordingHandler()
    client.dispatch(GET, handler)
    await handler.settled
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onRequestSent',
      'onResponseStarted',
      'onResponseStart 103',
      'onResponseStarted',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
  })

  test('a response that comes before the request was sent', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        response.flushHeaders()
        request.resume().on('end', () => response.end())
      })
    ).dispatcher()
    const headCame = deferred()
    const body = async function* () {
      yield 'a'
      await headCame.promise
      yield 'b'
    }
    const handler = new RecordingHandler({ onResponseStart: () => headCame.resolve() })
    client.dispatch({ ...POST, body: body() }, handler)
    await handler.settled
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onBodySent',
      'onResponseStarted',
      'onResponseStart 200',
      'onBodySent',
      'onRequestSent',
      'onResponseEnd',
    ])
  })

  test('a failure while it runs: the error, then nothing more', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half')
    })
    const handler = new RecordingHandler({
      onResponseData: () => {
        for (const socket of origin.sockets) socket.destroy()
      },
    })
    origin.dispatcher().dispatch(POST, handler)
    await handler.settled
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onRequestSent',
      'onResponseStarted',
      'onResponseStart 200',
      'onResponseData',
      'onResponseError',
    ])
    assert.equal(handler.lastController, handler.controller)
  })

  test('a failure before it starts: only the error, with no controller', async (t) => {
    const arrived = deferred()
    const client = (await startOrigin(t, way, () => arrived.resolve())).dispatcher(ONE_AT_A_TIME)
    const running = new RecordingHandler()
    client.dispatch(POST, running)
    await arrived.promise
    const waiting = new RecordingHandler()
    client.dispatch(POST, waiting)
    const own = new Error('over')
    const destroyed = client.destroy(own)
    // Queued requests fail inside destroy().
    assert.deepEqual(waiting.calls, ['onResponseError'])
    assert.equal(waiting.error, own)
    assert.equal(waiting.lastController, undefined)
    await destroyed
    assert.equal(running.error, own)
    assert.equal(running.calls.at(-1), 'onResponseError')
  })

  test('only the required methods are needed', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    await new Promise<void>((resolve, reject) => {
      client.dispatch(
        { ...POST, body: 'x' },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd: () => resolve(),
          onResponseError: (_controller, error) => reject(error),
        },
      )
    })
  })
})

overEachWay('the controller', (way) => {
  test('tells nothing before, and what was received after', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.sendDate = false
        response.writeHead(200, { 'X-One': '1', trailer: 'X-Sum' })
        response.write('x')
        response.addTrailers({ 'X-Sum': '2' })
        response.end()
      })
    ).dispatcher()
    let before: unknown[] = []
    const handler = new RecordingHandler({
      onRequestStart(controller) {
        const { aborted, paused, reason, rawHeaders, rawTrailers } = controller
        before = [aborted, paused, reason, rawHeaders, rawTrailers]
      },
    })
    client.dispatch(GET, handler)
    await handler.settled
    assert.deepEqual(before, [false, false, null, null, null])
    const { rawHeaders, rawTrailers } = handler.controller!
    assert.equal(
      (rawHeaders as unknown[]).every((part) => Buffer.isBuffer(part)),
      true,
    )
    const name = (text: string) => (way.multiplexes ? text.toLowerCase() : text)
    assert.deepEqual(rawList(rawHeaders)?.slice(0, 2).map(String), [name('X-One'), '1'])
    assert.deepEqual(rawList(rawTrailers)?.map(String), [name('X-Sum'), '2'])
    assert.deepEqual({ ...handler.trailers }, { 'x-sum': '2' })
  })

  test('rawTrailers are empty when there are none', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const handler = new RecordingHandler()
    client.dispatch(GET, handler)
    await handler.settled
    assert.deepEqual(handler.controller!.rawTrailers, [])
  })

  const MOMENTS: (keyof DispatchHandler)[] = [
    'onRequestStart',
    'onResponseStart',
    'onResponseData',
    'onRequestSent',
    'onBodySent',
    'onResponseStarted',
  ]
  for (const moment of MOMENTS) {
    test(`abort in ${moment}: the first call wins and reports at once`, async (t) => {
      const client = (await startOrigin(t, way, echo)).dispatcher()
      const own = new Error('first')
      let insideAbort: string | undefined
      const hook = () => {
        const controller = handler.controller!
        if (controller.aborted) return
        controller.abort(own)
        insideAbort = handler.calls.at(-1)
        controller.abort(new Error('second'))
      }
      const handler: RecordingHandler = new RecordingHandler({ [moment]: hook })
      client.dispatch({ ...POST, body: ['x', 'y'] }, handler)
      await handler.settled
      assert.equal(insideAbort, 'onResponseError')
      assert.equal(handler.error, own)
      assert.equal(handler.controller!.aborted, true)
      assert.equal(handler.controller!.reason, own)
      const calls = handler.calls.length
      assert.equal((await readEcho(await client.request(GET))).method, 'GET')
      assert.equal(handler.calls.length, calls)
    })
  }

  test('an onBodySent that cannot even be asked for fails its request, not the others', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const own = new Error('no access')
    const handler = new RecordingHandler()
    Object.defineProperty(handler, 'onBodySent', {
      get() {
        throw own
      },
    })
    client.dispatch({ ...POST, body: 'x' }, handler)
    await handler.settled
    assert.equal(handler.error, own)
    assert.equal((await readEcho(await client.request(GET))).method, 'GET')
  })

  test('abort without a reason', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const handler = new RecordingHandler({ onResponseStart: (controller) => controller.abort() })
    client.dispatch(GET, handler)
    await handler.settled
    assert.ok(handler.error instanceof errors.RequestAbortedError, String(handler.error))
    assert.equal(handler.controller!.reason, undefined)
  })

  test('abort after the end does nothing', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const handler = new RecordingHandler()
    client.dispatch(GET, handler)
    await handler.settled
    handler.controller!.abort(new Error('late'))
    assert.equal(handler.controller!.aborted, false)
    assert.equal(handler.controller!.reason, null)
    assert.equal(handler.error, undefined)
  })

  test('other failures are not aborts', async (t) => {
    const origin = await startOrigin(t, way, () => {
      for (const socket of origin.sockets) socket.destroy()
    })
    const handler = new RecordingHandler()
    origin.dispatcher().dispatch(POST, handler)
    await handler.settled
    assert.equal(handler.controller!.aborted, false)
    assert.equal(handler.controller!.reason, null)
  })

  test('an abort closes an HTTP/1.1 connection and leaves an HTTP/2 one', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    const seen = reasons(client)
    const handler = new RecordingHandler({ onResponseStart: (controller) => controller.abort() })
    client.dispatch(GET, handler)
    await handler.settled
    await readEcho(await client.request(GET))
    assert.deepEqual(
      seen.map((error) => error.message),
      way.multiplexes ? [] : ['aborted'],
    )
    assert.equal(origin.sockets.length, way.multiplexes ? 1 : 2)
  })
})

overEachWay('pause and resume', (way) => {
  test('nothing is delivered while paused, nothing is lost', async (t) => {
    const finish = deferred()
    const client = (
      await startOrigin(t, way, async (_request, response) => {
        response.write('one ')
        await finish.promise
        response.end('two')
      })
    ).dispatcher()
    const pausedAtHead = deferred<DispatchController>()
    const handler = new RecordingHandler({
      onResponseStart(controller) {
        controller.pause()
        assert.equal(controller.paused, true)
        pausedAtHead.resolve(controller)
      },
      onResponseData(controller) {
        controller.pause()
        setImmediate(() => controller.resume())
      },
    })
    client.dispatch(GET, handler)
    const controller = await pausedAtHead.promise
    finish.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(handler.chunks.length, 0)
    controller.resume()
    assert.equal(controller.paused, handler.chunks.length > 0)
    await handler.settled
    assert.equal(handler.body, 'one two')
    assert.equal(handler.calls.at(-1), 'onResponseEnd')
  })

  test('paused in onRequestStart, the response stops behind its head', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('body'))).dispatcher()
    const head = deferred()
    const handler = new RecordingHandler({
      onRequestStart: (controller) => controller.pause(),
      onResponseStart: () => head.resolve(),
    })
    client.dispatch(GET, handler)
    await head.promise
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(handler.story.at(-1), 'onResponseStart 200')
    handler.controller!.resume()
    await handler.settled
    assert.equal(handler.body, 'body')
  })

  test('resume when not paused does nothing', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const handler = new RecordingHandler({
      onRequestStart: (controller) => controller.resume(),
      onResponseStart: (controller) => controller.resume(),
      onResponseData: (controller) => controller.resume(),
    })
    client.dispatch(GET, handler)
    await handler.settled
    assert.equal(handler.error, undefined)
  })

  test('resumed inside the callback that paused', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('body'))).dispatcher()
    const flip = (controller: DispatchController) => {
      controller.pause()
      controller.resume()
    }
    const handler = new RecordingHandler({ onResponseStart: flip, onResponseData: flip })
    client.dispatch(GET, handler)
    await handler.settled
    assert.equal(handler.body, 'body')
  })

  test('a pause holds the server back', async (t) => {
    if (way.kind !== 'Client') return t.skip(CLIENT_ONLY)
    const total = 24 * 1024 * 1024
    let sent = 0
    let received = 0
    let ahead = 0
    const client = (
      await startOrigin(t, way, (_request, response) => {
        const chunk = Buffer.alloc(64 * 1024)
        const write = (): void => {
          while (sent < total) {
            sent += chunk.length
            ahead = Math.max(ahead, sent - received)
            if (!response.write(chunk)) {
              response.once('drain', write)
              return
            }
          }
          response.end()
        }
        write()
      })
    ).dispatcher()
    const handler = new RecordingHandler({
      onResponseData(controller, chunk) {
        received += chunk.length
        handler.chunks.length = 0
        controller.pause()
        setImmediate(() => controller.resume())
      },
    })
    client.dispatch(GET, handler)
    await handler.settled
    assert.equal(received, total)
    assert.equal(ahead < total / 2, true, `${ahead} bytes were ahead of the handler`)
  })

  test('a peer that closes while paused: what has arrived is still delivered', async (t) => {
    const closed = deferred()
    const origin = await startOrigin(t, way, (_request, response: ServerResponse) => {
      response.shouldKeepAlive = false
      response.end('all of it', () => closed.resolve())
    })
    const head = deferred()
    const handler = new RecordingHandler({
      onResponseStart(controller) {
        controller.pause()
        head.resolve()
      },
    })
    origin.dispatcher().dispatch(GET, handler)
    await Promise.all([closed.promise, head.promise])
    handler.controller!.resume()
    await handler.settled
    assert.equal(handler.error, undefined)
    assert.equal(handler.body, 'all of it')
  })
})

/** Where a handler throws, and the reason for closing the connection (null: it is kept). */
const THROWS: [method: keyof DispatchHandler, reason: 'aborted' | 'own' | null][] = [
  ['onRequestStart', null],
  ['onBodySent', 'aborted'],
  ['onRequestSent', 'aborted'],
  ['onResponseStarted', 'own'],
  ['onResponseStart', 'aborted'],
  ['onResponseData', 'aborted'],
  ['onResponseEnd', null],
]

overEachWay('a handler that throws', (way) => {
  for (const [method, reason] of THROWS) {
    test(`in ${method}`, async (t) => {
      const origin = await startOrigin(t, way, echo)
      const client = origin.dispatcher({ connections: 1 })
      // So that there is a connection to keep.
      await readEcho(await client.request(GET))
      const seen = reasons(client)
      const own = new Error(`thrown in ${method}`)
      const handler = new RecordingHandler({
        [method]: () => {
          throw own
        },
      })
      client.dispatch({ ...POST, body: 'x' }, handler)
      const next = client.request({ path: '/next', method: 'GET' })
      await handler.settled
      assert.equal(handler.error, own)
      assert.equal(handler.lastController, handler.controller)
      assert.equal(handler.calls.filter((call) => call === 'onResponseError').length, 1)
      assert.equal(handler.calls.at(-1), 'onResponseError')
      // It never fails other requests.
      assert.equal((await readEcho(await next)).url, '/next')
      const expected = reason === null || way.multiplexes ? [] : [reason === 'own' ? own.message : reason]
      assert.deepEqual(
        seen.map((error) => error.message),
        expected,
      )
      assert.equal(origin.sockets.length, 1 + expected.length)
    })
  }

  test('in onResponseStart for an informational head', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.writeEarlyHints({ link: '</a>' })
        response.end()
      })
    ).dispatcher()
    const own = new Error('at 103')
    const handler = new RecordingHandler({
      onResponseStart() {
        throw own
      },
    })
    client.dispatch(GET, handler)
    await handler.settled
    assert.equal(handler.error, own)
    assert.deepEqual(handler.statuses, [103])
  })

  test('in onResponseError: the client emits it', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const own = new Error('nobody listens to me')
    const emitted = new Promise((resolve) => client.on('error', resolve))
    const handler = new RecordingHandler({
      onResponseStart: (controller) => controller.abort(),
      onResponseError() {
        throw own
      },
    })
    client.dispatch(GET, handler)
    assert.equal(await emitted, own)
    assert.equal((await readEcho(await client.request(GET))).method, 'GET')
  })
})
