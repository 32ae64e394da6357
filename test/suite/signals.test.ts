import assert from 'node:assert/strict'
import { EventEmitter, getEventListeners, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { type Dispatcher, errors } from '../../src/index.ts'
import { EagerSignal, HastySignal } from '../support/eager-signal.ts'
import { deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { loadOf, ONE_AT_A_TIME, overEachWay, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' }

function sink(): Writable {
  return new Writable({
    write(_chunk, _encoding, callback) {
      callback()
    },
  })
}

/** As `AbortSignal.timeout()`, whose time is up when `limit` is called. */
function timeLimit() {
  const controller = new AbortController()
  const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  return { signal: controller.signal, reason, limit: () => controller.abort(reason) }
}

type Call = (
  client: Dispatcher,
  signal: AbortSignal | EventEmitter | EagerSignal | HastySignal,
) => Promise<unknown>

/** Each method of the API, ending with the error it reports. */
const METHODS: [name: string, call: Call][] = [
  ['request', (client, signal) => client.request({ ...GET, signal })],
  ['stream', (client, signal) => client.stream({ ...GET, signal }, sink)],
  [
    'pipeline',
    (client, signal) =>
      new Promise((_resolve, reject) => {
        client
          .pipeline({ ...GET, signal }, ({ body }) => body)
          .on('error', reject)
          .resume()
          .end()
      }),
  ],
]

/** Only HTTP/1.1 closes its connection for an abort. */
function disconnection(client: Dispatcher): Promise<Error> {
  return new Promise((resolve) =>
    client.once('disconnect', (_origin, _targets, error: Error) => resolve(error)),
  )
}

overEachWay('abort signals', (way) => {
  for (const [name, call] of METHODS) {
    test(`${name}: aborted beforehand, nothing is sent`, async (t) => {
      const origin = await startOrigin(t, way, echo)
      const client = origin.dispatcher()
      const reason = new Error('never mind')
      const signal = AbortSignal.abort(reason)
      assert.equal(await failure(call(client, signal)), reason)
      assert.equal(getEventListeners(signal, 'abort').length, 0)
      assert.equal(loadOf(client).size, 0)
      assert.equal(origin.sockets.length, 0)
      const emitter = Object.assign(new EventEmitter(), { aborted: true })
      const error = await failure(call(client, emitter))
      assert.ok(error instanceof errors.RequestAbortedError, String(error))
      assert.equal(await failure(call(client, new EagerSignal(reason))), reason)
      assert.equal(await failure(call(client, new HastySignal(reason))), reason)
      assert.deepEqual([loadOf(client).size, origin.sockets.length], [0, 0])
    })

    test(`${name}: aborted while it waits for the head`, async (t) => {
      const arrived = deferred()
      const client = (await startOrigin(t, way, () => arrived.resolve())).dispatcher()
      const controller = new AbortController()
      const reason = { not: 'even an error' }
      const disconnected = disconnection(client)
      const failed = failure(call(client, controller.signal))
      await arrived.promise
      assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
      controller.abort(reason)
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
      assert.equal(await failed, reason)
      if (!way.multiplexes) {
        const error = await disconnected
        assert.ok(error instanceof errors.InformationalError, String(error))
        assert.equal(error.message, 'aborted')
      }
    })

    test(`${name}: aborted while it is queued, it is never sent`, async (t) => {
      const first = deferred<ServerResponse>()
      const urls: string[] = []
      const client = (
        await startOrigin(t, way, (request, response) => {
          urls.push(String(request.url))
          if (request.url === '/first') first.resolve(response)
          else response.end()
        })
      ).dispatcher(ONE_AT_A_TIME)
      const running = client.request({ path: '/first', method: 'POST' })
      const response = await first.promise
      const controller = new AbortController()
      const failed = failure(call(client, controller.signal))
      const last = client.request({ path: '/last', method: 'GET' })
      controller.abort()
      response.end()
      const error = await failed
      assert.equal(error, controller.signal.reason)
      assert.equal(error.name, 'AbortError')
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
      await (await running).body.dump()
      await (await last).body.dump()
      assert.deepEqual(urls, ['/first', '/last'])
    })
  }

  test('aborted during the body: the body fails with the reason', async (t) => {
    const gone = deferred()
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.on('close', () => gone.resolve())
        response.write('x')
      })
    ).dispatcher()
    const controller = new AbortController()
    const { body } = await client.request({ ...GET, signal: controller.signal })
    const text = failure(body.text())
    const reason = new Error('enough')
    controller.abort(reason)
    assert.equal(await text, reason)
    await gone.promise

    const streamed = new AbortController()
    const next = await client.request({ ...GET, signal: streamed.signal })
    next.body.resume()
    await once(next.body, 'data')
    streamed.abort(reason)
    const [error] = await once(next.body, 'error')
    assert.equal(error, reason)
    assert.equal(getEventListeners(streamed.signal, 'abort').length, 0)
  })

  test('aborted during the body of stream(): the writable is destroyed with the reason', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.write('x')
      })
    ).dispatcher()
    const controller = new AbortController()
    const target = new PassThrough()
    const done = failure(client.stream({ ...GET, signal: controller.signal }, () => target))
    await once(target, 'data')
    const reason = new Error('enough')
    controller.abort(reason)
    assert.equal(await done, reason)
    assert.equal(target.errored, reason)
  })

  test('aborted after the end: nothing happens', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const controller = new AbortController()
    const response = await client.request({ ...GET, signal: controller.signal })
    const received = readEcho(response)
    await received
    controller.abort()
    assert.equal(response.body.errored, null)
    assert.equal((await readEcho(await client.request(GET))).method, 'GET')
  })

  test('AbortSignal.timeout fails with its TimeoutError', async (t) => {
    const client = (await startOrigin(t, way, () => {})).dispatcher()
    const error = await failure(client.request({ ...GET, signal: AbortSignal.timeout(1) }))
    assert.equal(error.name, 'TimeoutError')
  })

  for (const [name, call] of METHODS) {
    test(`${name}: the error of a time limit says which request, and how far it was`, async (t) => {
      const arrived = deferred()
      const origin = await startOrigin(t, way, () => arrived.resolve())
      const { limit, reason, signal } = timeLimit()
      const failed = failure(call(origin.dispatcher(), signal))
      await arrived.promise
      limit()
      const error = (await failed) as DOMException & Record<string, unknown>
      assert.deepEqual([error.name, error.code, error instanceof DOMException], ['TimeoutError', 23, true])
      assert.equal(error.cause, reason)
      // The agent of these tests adds the origin itself, which the call does not know.
      const url = way.kind === 'Agent' ? '' : new URL(origin.url).origin
      assert.deepEqual(
        [error['method'], error['origin'], error['path'], error['phase']],
        ['GET', url, '/', 'headers'],
      )
      const story = '1 attempt, waiting for the response head'
      assert.equal(error.message, `GET ${url}/ exceeded the time limit of its signal: ${story}`)
    })
  }

  test('the error of a time limit in a queue, and of one in a body', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => void response.write('x'))
    const client = origin.dispatcher(ONE_AT_A_TIME)
    const body = timeLimit()
    const response = await client.request({ ...GET, signal: body.signal })
    const queued = timeLimit()
    const waiting = failure(client.request({ path: '/a?secret=1', method: 'GET', signal: queued.signal }))
    queued.limit()
    const never = await waiting
    assert.match(never.message, /^GET \S*\/a exceeded .*: 0 attempts, waiting to be sent$/)
    const text = failure(response.body.text())
    body.limit()
    assert.match((await text).message, /: 1 attempt, reading the body$/)
    // A caller's own error stays as it is, whatever its name.
    const own = Object.assign(new Error('mine'), { name: 'TimeoutError' })
    assert.equal(await failure(client.request({ ...GET, signal: AbortSignal.abort(own) })), own)
  })

  test('an EventEmitter that says abort has one listener during, none after', async (t) => {
    const arrived = deferred()
    const client = (
      await startOrigin(t, way, (request, response) => {
        if (request.url === '/wait') arrived.resolve()
        else response.end('x')
      })
    ).dispatcher()
    const signal = new EventEmitter()
    const response = await client.request({ ...GET, signal })
    await response.body.text()
    assert.equal(signal.listenerCount('abort'), 0)

    const failed = failure(client.request({ path: '/wait', method: 'GET', signal }))
    assert.equal(signal.listenerCount('abort'), 1)
    await arrived.promise
    signal.emit('abort')
    const error = await failed
    assert.ok(error instanceof errors.RequestAbortedError, String(error))
    assert.equal(signal.listenerCount('abort'), 0)
  })

  test('the listener goes with the end of each kind of call', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const { signal } = new AbortController()
    const left = () => getEventListeners(signal, 'abort').length
    await (await client.request({ ...GET, signal })).body.text()
    assert.equal(left(), 0)
    await (await client.request({ ...GET, signal })).body.dump()
    assert.equal(left(), 0)
    const { body } = await client.request({ ...GET, signal })
    body.resume()
    await once(body, 'close')
    assert.equal(left(), 0)
    await client.stream({ ...GET, signal }, sink)
    assert.equal(left(), 0)
    const duplex = client.pipeline({ ...GET, signal }, ({ body }) => body)
    duplex.end()
    duplex.resume()
    await once(duplex, 'close')
    assert.equal(left(), 0)
    await failure(client.request({ ...GET, path: 'wrong', signal }))
    assert.equal(left(), 0)
  })

  test('1,000 requests share one listener, over several clients', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => response.end('x'))
    const clients = [origin.dispatcher({ connections: 4 }), origin.dispatcher({ connections: 4 })]
    const { signal } = new AbortController()
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    t.after(() => process.off('warning', onWarning))
    const texts = clients.flatMap((client, index) =>
      Array.from({ length: index === 0 ? 1000 : 10 }, async () =>
        (await client.request({ ...GET, signal })).body.text(),
      ),
    )
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    assert.equal((await Promise.all(texts)).join(''), 'x'.repeat(1010))
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    assert.deepEqual(warnings, [])
  })

  test('one abort ends all that share the signal, and nothing else', async (t) => {
    const arrived = deferred()
    const client = (
      await startOrigin(t, way, (request, response) => {
        if (request.url === '/own') response.end('own')
        else arrived.resolve()
      })
    ).dispatcher({ connections: 4, maxConcurrentStreams: 200 })
    const controller = new AbortController()
    const { signal } = controller
    const shared = Array.from({ length: 100 }, () => failure(client.request({ ...GET, signal })))
    const own = client.request({ path: '/own', method: 'GET' })
    await arrived.promise
    controller.abort()
    for (const error of await Promise.all(shared)) assert.equal(error, signal.reason)
    assert.equal(await (await own).body.text(), 'own')
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})
