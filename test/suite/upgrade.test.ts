/** `upgrade()` and `connect()` against the runtime's server, over HTTP/1.1. HTTP/2 has other mechanisms for both. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type Duplex, PassThrough } from 'node:stream'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { type Dispatcher, errors } from '../../src/index.ts'
import { deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { http1Only, loadOf, overEachWay, startOrigin, type Way } from '../support/wire.ts'

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chat\r\nX-A: 1\r\n\r\n'

function disconnection(client: Dispatcher): Promise<Error> {
  return new Promise((resolve) =>
    client.once('disconnect', (_origin, _targets, error: Error) => resolve(error)),
  )
}

function upgrading(way: Way): void {
  const start = async (t: Parameters<typeof startOrigin>[0]) => {
    const origin = await startOrigin(t, way, echo)
    origin.server.on('upgrade', (request, socket: Duplex) => {
      socket.on('error', () => {})
      socket.write(`${SWITCH}hello from ${request.url}`)
      socket.on('data', (data) => socket.write(`you said ${data}`))
    })
    return origin
  }

  test('gives the socket with what has arrived on it', async (t) => {
    const client = (await start(t)).dispatcher()
    const disconnected = disconnection(client)
    const data = await client.upgrade({ path: '/chat', protocol: 'chat', opaque: 'mine' })
    assert.deepEqual(Object.keys(data), ['headers', 'socket', 'opaque', 'context'])
    assert.equal(data.headers['upgrade'], 'chat')
    assert.equal(data.opaque, 'mine')
    const { socket } = data
    assert.equal(String((await once(socket, 'data'))[0]), 'hello from /chat')
    socket.write('hi')
    assert.equal(String((await once(socket, 'data'))[0]), 'you said hi')
    const reason = await disconnected
    assert.ok(reason instanceof errors.InformationalError, String(reason))
    assert.equal(reason.message, 'upgrade')
    // The client no longer owns it: the end of the client is not the end of the socket.
    await client.destroy()
    socket.write('still there')
    assert.equal(String((await once(socket, 'data'))[0]), 'you said still there')
    socket.destroy()
  })

  test('callback and raw headers', async (t) => {
    const client = (await start(t)).dispatcher()
    const { headers, socket } = await new Promise<{ headers: object; socket: Duplex }>((resolve, reject) => {
      client.upgrade({ path: '/', responseHeaders: 'raw' }, (error, data) =>
        error ? reject(error) : resolve(data),
      )
    })
    assert.deepEqual(headers, ['connection', 'upgrade', 'upgrade', 'chat', 'X-A', '1'])
    socket.destroy()
  })

  test('the client reconnects for what waits behind it', async (t) => {
    const origin = await start(t)
    const client = origin.dispatcher()
    const upgraded = client.upgrade({ path: '/' })
    const next = client.request({ path: '/next', method: 'GET' })
    const { socket } = await upgraded
    assert.equal((await readEcho(await next)).url, '/next')
    assert.equal(origin.sockets.length, 2)
    socket.destroy()
  })

  test('waits until nothing else runs, and nothing goes beside it', async (t) => {
    const first = deferred<ServerResponse>()
    const order: string[] = []
    const origin = await startOrigin(t, way, (request, response) => {
      order.push(String(request.url))
      if (request.url === '/first') first.resolve(response)
      else response.end()
    })
    origin.server.on('upgrade', (request, socket: Duplex) => {
      order.push(String(request.url))
      socket.on('error', () => {})
      socket.write(SWITCH)
    })
    const client = origin.dispatcher({ connections: 1, pipelining: 10 })
    const running = client.request({ path: '/first', method: 'GET', blocking: false })
    const upgraded = client.upgrade({ path: '/upgrade' })
    const after = client.request({ path: '/after', method: 'GET', blocking: false })
    const response = await first.promise
    assert.deepEqual(loadOf(client), { connected: 1, pending: 2, running: 1, size: 3 })
    response.end()
    await (await running).body.dump()
    ;(await upgraded).socket.destroy()
    await (await after).body.dump()
    assert.deepEqual(order, ['/first', '/upgrade', '/after'])
  })

  test('an ordinary answer is a bad upgrade', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const error = await failure(client.upgrade({ path: '/' }))
    assert.ok(error instanceof errors.SocketError, String(error))
    assert.match(error.message, /^bad upgrade/)
    assert.equal((await readEcho(await client.request({ path: '/x', method: 'GET' }))).url, '/x')
  })

  test('101 for a request that did not ask is a bad upgrade', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.socket?.write(SWITCH)
    })
    const error = await failure(origin.dispatcher().request({ path: '/', method: 'POST' }))
    assert.ok(error instanceof errors.SocketError, String(error))
    assert.match(error.message, /^bad upgrade/)
  })

  test('request() and stream() that ask for one take an ordinary answer', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    for (const method of ['GET', 'POST']) {
      const body = method === 'POST' ? 'sent' : null
      const response = await client.request({ path: '/x', method, body, upgrade: 'chat' })
      assert.equal(response.statusCode, 200)
      const seen = await readEcho(response)
      assert.deepEqual([seen.method, seen.headers['upgrade'], seen.body], [method, 'chat', body ?? ''])
    }
    const target = new PassThrough()
    await client.stream({ path: '/y', method: 'GET', upgrade: 'chat' }, ({ statusCode }) => {
      assert.equal(statusCode, 200)
      return target
    })
    assert.equal(((await json(target)) as { url: string }).url, '/y')
    assert.equal((await readEcho(await client.request({ path: '/z', method: 'GET' }))).url, '/z')
  })

  test('a switch for request() and stream() is a bad upgrade, and the socket goes', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    for (const ask of [
      () => client.request({ path: '/', method: 'GET', upgrade: 'chat' }),
      () => client.stream({ path: '/', method: 'GET', upgrade: 'chat' }, () => new PassThrough()),
    ]) {
      const closed = deferred()
      origin.server.once('upgrade', (_request, socket: Duplex) => {
        socket.on('error', () => {})
        socket.once('end', () => closed.resolve())
        socket.resume()
        socket.write(SWITCH)
      })
      const error = await failure(ask())
      assert.ok(error instanceof errors.SocketError, String(error))
      assert.match(error.message, /^bad upgrade/)
      await closed.promise
    }
  })

  test('aborted while it waits', async (t) => {
    const arrived = deferred()
    const origin = await startOrigin(t, way, echo)
    origin.server.on('upgrade', (_request, socket: Duplex) => {
      socket.on('error', () => {})
      arrived.resolve()
    })
    const controller = new AbortController()
    const failed = failure(origin.dispatcher().upgrade({ path: '/', signal: controller.signal }))
    await arrived.promise
    controller.abort()
    assert.equal(await failed, controller.signal.reason)
  })

  test('a callback that throws destroys the socket with the error', async (t) => {
    const client = (await start(t)).dispatcher()
    const own = new Error('mine')
    const failed = new Promise<Error>((resolve) => {
      client.upgrade({ path: '/' }, (_error, data) => {
        data.socket.on('error', resolve)
        throw own
      })
    })
    assert.equal(await failed, own)
  })

  test('a handler that throws in onRequestUpgrade: the socket goes, no further call', async (t) => {
    const client = (await start(t)).dispatcher()
    const own = new Error('mine')
    const socketFailed = deferred<Error>()
    const handler = new RecordingHandler({
      onRequestUpgrade(_controller, _status, _headers, socket) {
        socket.on('error', socketFailed.resolve)
        throw own
      },
    })
    client.dispatch({ path: '/', method: 'GET', upgrade: 'chat' }, handler)
    assert.equal(await socketFailed.promise, own)
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onRequestSent',
      'onResponseStarted',
      'onRequestUpgrade 101',
    ])
    assert.equal((await readEcho(await client.request({ path: '/x', method: 'GET' }))).url, '/x')
  })
}

overEachWay('upgrade()', upgrading, http1Only('HTTP/2 has no Upgrade (RFC 9113 §8.6)'))

function connecting(way: Way): void {
  const start = async (t: Parameters<typeof startOrigin>[0], status = '200 Connected') => {
    const origin = await startOrigin(t, way, echo)
    origin.server.on('connect', (request, socket: Duplex) => {
      socket.on('error', () => {})
      socket.write(`HTTP/1.1 ${status}\r\nX-A: 1\r\n\r\nthis is ${request.url}`)
      socket.pipe(socket)
    })
    return origin
  }

  test('gives the tunnel', async (t) => {
    const client = (await start(t)).dispatcher()
    const disconnected = disconnection(client)
    const data = await client.connect({ path: 'far.test:443', opaque: 'mine' })
    assert.deepEqual(Object.keys(data), ['statusCode', 'headers', 'socket', 'opaque', 'context'])
    assert.equal(data.statusCode, 200)
    assert.equal(data.headers['x-a'], '1')
    assert.equal(data.opaque, 'mine')
    assert.equal(String((await once(data.socket, 'data'))[0]), 'this is far.test:443')
    data.socket.write('echo')
    assert.equal(String((await once(data.socket, 'data'))[0]), 'echo')
    assert.equal((await disconnected).message, 'upgrade')
    data.socket.destroy()
  })

  test('any final status resolves', async (t) => {
    const client = (await start(t, '407 Proxy Authentication Required')).dispatcher()
    const { statusCode, socket } = await client.connect({ path: 'far.test:443' })
    assert.equal(statusCode, 407)
    socket.destroy()
  })

  test('callback', async (t) => {
    const client = (await start(t)).dispatcher()
    const statusCode = await new Promise((resolve, reject) => {
      client.connect({ path: 'far.test:443' }, (error, data) => {
        if (error) return reject(error)
        data.socket.destroy()
        resolve(data.statusCode)
      })
    })
    assert.equal(statusCode, 200)
  })

  test('connects early: what follows goes on a new connection', async (t) => {
    const origin = await start(t)
    const client = origin.dispatcher()
    const { socket } = await client.connect({ path: 'far.test:443' })
    socket.destroy()
    assert.equal((await readEcho(await client.request({ path: '/x', method: 'GET' }))).url, '/x')
    assert.equal(origin.sockets.length, 2)
  })

  test('a failure before the answer', async (t) => {
    const origin = await startOrigin(t, way, echo)
    origin.server.on('connect', (_request, socket: Duplex) => {
      socket.on('error', () => {})
      for (const accepted of origin.sockets) accepted.destroy()
    })
    const error = await failure(origin.dispatcher().connect({ path: 'far.test:443' }))
    assert.match(error.message, /^(other side closed|read ECONNRESET)/)
  })
}

overEachWay(
  'connect()',
  connecting,
  http1Only('test/connection/http2-tunnel.test.ts has the tunnels of HTTP/2'),
)
