/** Every error of a request names the request, how far it had come, and whether it may be sent again. */
import assert from 'node:assert/strict'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { errors, type RequestErrorContext } from '../../src/index.ts'
import { deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { ONE_AT_A_TIME, overEachWay, startOrigin, type TestOrigin } from '../support/wire.ts'

type ContextError = Error & RequestErrorContext & { code?: string }

async function contextOf(promise: Promise<unknown>): Promise<ContextError> {
  return (await failure(promise)) as unknown as ContextError
}

function dropAll(origin: TestOrigin): void {
  for (const socket of origin.sockets) socket.destroy()
}

/**
 * Finds the origin `times` times, and after that an address on which its port is unused: the origin keeps listening, so
 * the system does not assign the port again.
 */
function lookupThatEnds(times: number): LookupFunction {
  let count = 0
  return (_hostname, _options, callback) => {
    callback(null, [{ address: count++ < times ? '127.0.0.1' : '127.0.0.2', family: 4 }])
  }
}

overEachWay('the errors of a request', (way) => {
  test('while it waits in the queue', async (t) => {
    const arrived = deferred()
    const origin = await startOrigin(t, way, () => arrived.resolve())
    const client = origin.dispatcher(ONE_AT_A_TIME)
    const running = contextOf(client.request({ path: '/running?a=1', method: 'POST' }))
    await arrived.promise
    const waiting = contextOf(client.request({ path: '/waiting?token=secret#x', method: 'PUT' }))
    await client.destroy()
    const error = await waiting
    assert.ok(error instanceof errors.ClientDestroyedError, String(error))
    assert.equal(error.method, 'PUT')
    assert.equal(error.origin, origin.url)
    assert.equal(error.path, '/waiting')
    assert.equal(error.phase, 'queued')
    assert.equal(error.retrySafety, 'safe')
    assert.equal(error.reusedSocket, false)
    assert.equal(error.socket, null)
    assert.equal(error.timings.sent, null)
    assert.equal(typeof error.timings.end, 'number')
    const other = await running
    assert.equal(other.path, '/running')
    assert.equal(other.phase, 'headers')
    assert.equal(other.retrySafety, 'idempotent-only')
  })

  test('while connecting', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher({ connect: { lookup: lookupThatEnds(0) } })
    const all = await Promise.all(
      ['/one?a', '/two'].map((path) => contextOf(client.request({ path, method: 'POST', body: 'x' }))),
    )
    for (const [index, error] of all.entries()) {
      assert.equal(error.code, 'ECONNREFUSED')
      assert.equal(error.path, index === 0 ? '/one' : '/two')
      assert.equal(error.method, 'POST')
      assert.equal(error.origin, origin.url)
      assert.equal(error.phase, 'connecting')
      assert.equal(error.retrySafety, 'safe')
      assert.equal(error.reusedSocket, false)
      assert.equal(error.socket, null)
      assert.equal(error.timings.connect, null)
    }
  })

  test('while sending', async (t) => {
    const origin = await startOrigin(t, way, (request) => {
      request.on('error', () => {})
      request.once('data', () => dropAll(origin))
    })
    const body = new Readable({ read() {} })
    body.push('x')
    const error = await contextOf(origin.dispatcher().request({ path: '/up', method: 'POST', body }))
    assert.match(error.message, /^(other side closed|read ECONNRESET|write E)/)
    assert.equal(error.phase, 'sending')
    // The stream is spent.
    assert.equal(error.retrySafety, 'no')
    assert.equal(error.timings.sent, null)
  })

  test('a request at fault is not worth a repetition', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const headers = { 'content-length': '5' }
    const error = await contextOf(client.request({ path: '/', method: 'POST', headers, body: 'x' }))
    assert.ok(error instanceof errors.RequestContentLengthMismatchError, String(error))
    assert.equal(error.phase, 'sending')
    assert.equal(error.retrySafety, 'no')
    assert.equal(error.method, 'POST')
  })

  test('while waiting for the head', async (t) => {
    const origin = await startOrigin(t, way, (request) => {
      request.resume().on('end', () => dropAll(origin))
    })
    const client = origin.dispatcher()
    const error = await contextOf(client.request({ path: '/wait?q', method: 'POST', body: 'abc' }))
    assert.equal(error.phase, 'headers')
    assert.equal(error.retrySafety, 'idempotent-only')
    assert.equal(error.reusedSocket, false)
    assert.equal(error.path, '/wait')
    const { socket } = error
    assert.equal(socket?.remoteAddress, '127.0.0.1')
    assert.equal(socket?.remotePort, origin.port)
    assert.equal(typeof socket?.localPort, 'number')
    assert.equal((socket?.bytesWritten ?? 0) > 0, true)
    assert.equal(typeof error.timings.sent, 'number')
    assert.equal(error.timings.firstByte, null)
  })

  test('a timeout while waiting for the head', async (t) => {
    const origin = await startOrigin(t, way, () => {})
    const client = origin.dispatcher()
    const error = await contextOf(client.request({ path: '/slow', method: 'GET', headersTimeout: 1 }))
    assert.ok(error instanceof errors.HeadersTimeoutError, String(error))
    assert.equal(error.phase, 'headers')
    assert.equal(error.retrySafety, 'idempotent-only')
    assert.equal(error.path, '/slow')
    // The first line of the stack has the context after the message.
    const [line] = error.stack!.split('\n', 1) as [string]
    const place = `GET ${origin.url}/slow while waiting for the response head on a new connection`
    assert.ok(line.startsWith(`HeadersTimeoutError: ${error.message} (${place}, `), line)
  })

  test('while receiving the body, on a connection that was used before', async (t) => {
    const origin = await startOrigin(t, way, (request, response) => {
      if (request.url === '/first') return echo(request, response)
      response.writeHead(200, { 'content-length': '10' })
      response.write('half')
    })
    const client = origin.dispatcher()
    await readEcho(await client.request({ path: '/first', method: 'GET' }))
    const { body } = await client.request({ path: '/second', method: 'GET' })
    body.once('data', () => dropAll(origin))
    const error = await new Promise<ContextError>((resolve) => body.on('error', resolve as never))
    assert.match(error.message, /^(other side closed|read ECONNRESET|closed)/)
    assert.equal(error.phase, 'body')
    assert.equal(error.retrySafety, 'idempotent-only')
    assert.equal(error.reusedSocket, true)
    assert.equal((error.socket?.bytesRead ?? 0) > 0, true)
    assert.equal(typeof error.timings.firstByte, 'number')
    assert.equal(error.timings.connect, null)
  })

  test('a body timeout and a body that is too long', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        response.write('x')
        if (request.url === '/long') response.end('yz')
      })
    ).dispatcher({ maxResponseSize: 2 })
    const late = await client.request({ path: '/late', method: 'GET', bodyTimeout: 1 })
    const timeout = await contextOf(late.body.text())
    assert.ok(timeout instanceof errors.BodyTimeoutError, String(timeout))
    assert.equal(timeout.phase, 'body')
    assert.equal(timeout.retrySafety, 'idempotent-only')
    const long = await client.request({ path: '/long', method: 'GET' })
    const exceeded = await contextOf(long.body.text())
    assert.ok(exceeded instanceof errors.ResponseExceededMaxSizeError, String(exceeded))
    assert.equal(exceeded.phase, 'body')
    assert.equal(exceeded.retrySafety, 'no')
  })

  test('an abort without a reason of its own', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const error = await new Promise<ContextError>((resolve) => {
      client.dispatch(
        { path: '/gone?x', method: 'GET' },
        {
          onRequestStart() {},
          onResponseStart: (controller) => controller.abort(),
          onResponseData() {},
          onResponseEnd() {},
          onResponseError: (_controller, failed) => resolve(failed as never),
        },
      )
    })
    assert.ok(error instanceof errors.RequestAbortedError, String(error))
    assert.equal(error.message, 'Request aborted')
    assert.equal(error.path, '/gone')
    assert.equal(error.phase, 'body')
    assert.equal(error.retrySafety, 'no')
  })

  test('a value of the caller is passed on untouched', async (t) => {
    const arrived = deferred()
    const client = (await startOrigin(t, way, () => arrived.resolve())).dispatcher()
    const controller = new AbortController()
    const reason = Object.freeze({ mine: true })
    const failed = failure(client.request({ path: '/', method: 'GET', signal: controller.signal }))
    await arrived.promise
    controller.abort(reason)
    assert.equal(await failed, reason)

    const own = new Error('mine')
    const waiting = failure(client.request({ path: '/', method: 'GET' }))
    await client.destroy(own)
    assert.equal(await waiting, own)
    assert.equal('retrySafety' in own, false)
  })

  test('the client’s events get the bare error', async (t) => {
    const origin = await startOrigin(t, way, () => dropAll(origin))
    const client = origin.dispatcher()
    const disconnected = new Promise<Error>((resolve) =>
      client.once('disconnect', (_origin, _targets, error: Error) => resolve(error)),
    )
    const error = await contextOf(client.request({ path: '/secret', method: 'POST' }))
    const reason = await disconnected
    if (reason instanceof errors.SocketError) {
      assert.equal(reason.message, 'other side closed')
      assert.notEqual(reason, error)
      assert.equal('retrySafety' in reason, false)
    }
  })

  if (!way.multiplexes) {
    test('the first request of a connection was not on a reused one, whatever was written behind it', async (t) => {
      const both = deferred()
      let count = 0
      const origin = await startOrigin(t, way, () => {
        count++
        if (count === 2) both.resolve()
      })
      const client = origin.dispatcher({ connections: 1, pipelining: 2 })
      const options = { method: 'GET', blocking: false }
      const first = contextOf(client.request({ ...options, path: '/first' }))
      const second = contextOf(client.request({ ...options, path: '/second' }))
      await both.promise
      await client.destroy()
      assert.equal((await first).reusedSocket, false)
      assert.equal((await second).reusedSocket, true)
    })

    test('a request that was written on a lost connection is not called safe when the next one fails', async (t) => {
      let count = 0
      const origin = await startOrigin(t, way, () => {
        count++
        if (count === 2) dropAll(origin)
      })
      const connect = { lookup: lookupThatEnds(1) }
      const client = origin.dispatcher({ connections: 1, pipelining: 2, connect })
      const options = { method: 'GET', blocking: false }
      const first = contextOf(client.request({ ...options, path: '/first' }))
      const second = contextOf(client.request({ ...options, path: '/second' }))
      assert.equal((await first).phase, 'headers')
      const error = await second
      assert.equal(error.code, 'ECONNREFUSED')
      assert.equal(error.phase, 'connecting')
      assert.equal(error.retrySafety, 'idempotent-only')
    })
  }
})
