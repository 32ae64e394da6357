import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import type { Client } from '../../src/index.ts'
import {
  CANCEL,
  CONNECT_ERROR,
  DATA,
  FLAG_END_STREAM,
  INTERNAL_ERROR,
  NO_ERROR,
  REFUSED_STREAM,
  SETTINGS_ENABLE_CONNECT_PROTOCOL,
  WINDOW_UPDATE,
} from '../../src/protocol/http2/constants.ts'
import { WindowGrowth } from '../../src/protocol/http2/window-growth.ts'
import { contentOf, failure } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { type H2Peer, type H2Server, startH2Pair } from '../support/h2-server.ts'
import { send } from '../support/scripted-client.ts'

const EXTENDED = [[SETTINGS_ENABLE_CONNECT_PROTOCOL, 1]] as const

interface Tunnel {
  readonly server: H2Server
  readonly client: Client
  readonly peer: H2Peer
  readonly id: number
  readonly socket: import('node:stream').Duplex
}

async function tunnelled(t: TestContext): Promise<Tunnel> {
  const { server, client } = await startH2Pair(t)
  const tunnel = client.connect({ path: 'target.test:443' })
  const peer = await server.accept()
  const { id } = await peer.request()
  peer.head(id, 200)
  const { socket, statusCode } = await tunnel
  assert.equal(statusCode, 200)
  return { server, client, peer, id, socket }
}

describe('CONNECT over HTTP/2', () => {
  for (const path of ['/', '/somewhere', 'http://elsewhere.test/']) {
    test(`to the path ${path}: the authority is the origin's`, async (t) => {
      const { server, client } = await startH2Pair(t)
      const tunnels = [client.connect({ path }), client.connect({ path, headers: { host: 'named.test' } })]
      const peer = await server.accept()
      const [plain, named] = await peer.take(2)
      assert.deepEqual(plain!.fields, [':method', 'CONNECT', ':authority', `localhost:${server.port}`])
      assert.deepEqual(named!.fields, [':method', 'CONNECT', ':authority', 'named.test'])
      for (const { id } of [plain!, named!]) peer.head(id, 200)
      for (const tunnel of tunnels) (await tunnel).socket.destroy()
    })
  }

  test('sends only :method and :authority, and the headers of the caller', async (t) => {
    const { server, client } = await startH2Pair(t)
    const tunnel = client.connect({
      path: 'target.test:443',
      headers: { 'proxy-authorization': 'Basic eA==', host: 'x' },
    })
    const peer = await server.accept()
    const { id, fields, endStream } = await peer.request()
    assert.deepEqual(fields, [
      ':method',
      'CONNECT',
      ':authority',
      'target.test:443',
      'proxy-authorization',
      'Basic eA==',
    ])
    assert.equal(endStream, false)
    peer.head(id, 200, ['x-proxy', 'yes'])
    const { statusCode, headers, socket } = await tunnel
    assert.deepEqual([statusCode, headers['x-proxy']], [200, 'yes'])
    socket.destroy()
  })

  test('bytes go both ways, and each side ends for itself: ours first', async (t) => {
    const { client, peer, id, socket } = await tunnelled(t)
    socket.end('from us')
    assert.equal((await peer.body(id)).toString(), 'from us')
    peer.data(id, 'from ').data(id, 'them', true)
    assert.equal((await contentOf(socket)).toString(), 'from them')
    await eventually(() => client.stats.running === 0)
    assert.equal(socket.errored, null)
  })

  test('the peer first', async (t) => {
    const { client, peer, id, socket } = await tunnelled(t)
    peer.data(id, 'from them', true)
    const received: Buffer[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk))
    await once(socket, 'end')
    assert.equal(String(Buffer.concat(received)), 'from them')
    socket.end('from us')
    assert.equal((await peer.body(id)).toString(), 'from us')
    await eventually(() => client.stats.running === 0 && socket.destroyed)
    assert.equal(socket.errored, null)
  })

  test('a writer waits for the window', async (t) => {
    const { peer, id, socket } = await tunnelled(t)
    const sent = Buffer.alloc(400_000, 'x')
    let written = false
    socket.write(sent, () => {
      written = true
    })
    const finished = once(socket.end(), 'finish')
    for (let got = 0; got < 65_535; ) got += (await peer.frame(DATA, id)).payload.length
    await peer.settled()
    assert.equal(written, false)
    peer.windowUpdate(0, 400_000).windowUpdate(id, 400_000)
    assert.equal((await peer.body(id)).length, 400_000 - 65_535)
    await finished
    assert.equal(written, true)
    socket.destroy()
  })

  test('a reader that does not read holds the window', async (t) => {
    // Windows grow with the bytes per round trip, which depends on time.
    t.mock.method(WindowGrowth.prototype, 'onStreamData', () => 0)
    const { peer, id, socket } = await tunnelled(t)
    for (let i = 0; i < 15; i++) peer.data(id, Buffer.alloc(16_384, 'x'))
    await peer.settled()
    let given = 0
    for (const frame of peer.pending(WINDOW_UPDATE, id)) given += frame.payload.readUInt32BE(0)
    assert.ok(given <= 131_072, `${given} bytes were given back unread`)
    peer.data(id, '', true)
    assert.equal((await contentOf(socket)).length, 15 * 16_384)
    // Whether iterating to the end of one direction closes the other depends on the runtime.
    socket.destroy()
  })

  test('destroying the socket resets the stream and keeps the connection', async (t) => {
    const { server, client, peer, id, socket } = await tunnelled(t)
    socket.destroy()
    assert.equal(await peer.resetOf(id), CANCEL)
    const next = send(client)
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
    assert.equal(server.count, 1)
  })

  for (const [name, half] of [
    ['open', false],
    ['half-closed by the peer', true],
  ] as const) {
    test(`RST_STREAM destroys the socket (${name})`, async (t) => {
      const { client, peer, id, socket } = await tunnelled(t)
      socket.resume()
      if (half) {
        peer.data(id, '', true)
        await once(socket, 'end')
      }
      const failed = once(socket, 'error')
      peer.reset(id, CONNECT_ERROR)
      const [error] = (await failed) as [Error]
      assert.ok(error instanceof Error)
      assert.equal(socket.destroyed, true)
      await eventually(() => client.stats.running === 0)
    })

    test(`the loss of the connection destroys the socket (${name})`, async (t) => {
      const { client, peer, id, socket } = await tunnelled(t)
      socket.resume()
      if (half) {
        peer.data(id, '', true)
        await once(socket, 'end')
      }
      const failed = once(socket, 'error')
      peer.end()
      const [error] = (await failed) as [Error & { code: string }]
      assert.equal(error.code, 'UND_ERR_SOCKET')
      await eventually(() => client.stats.running === 0)
    })

    test(`destroy() of the client destroys the socket (${name})`, async (t) => {
      const { client, peer, id, socket } = await tunnelled(t)
      socket.resume()
      if (half) {
        peer.data(id, '', true)
        await once(socket, 'end')
      }
      const failed = once(socket, 'error')
      const reason = new Error('going home')
      await client.destroy(reason)
      assert.equal((await failed)[0], reason)
    })
  }

  test('any final status resolves, and its content can be read', async (t) => {
    const { server, client } = await startH2Pair(t)
    const tunnel = client.connect({ path: 'target.test:443' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 407, ['content-length', '7']).data(id, 'who are', true)
    const { statusCode, socket } = await tunnel
    assert.equal(statusCode, 407)
    socket.setEncoding('utf8')
    const [text] = (await once(socket, 'data')) as [string]
    assert.equal(text, 'who are')
    socket.destroy()
  })

  for (const status of [200, 407]) {
    test(`${status}, all of its content, and RST_STREAM at once: it is read to its end`, async (t) => {
      const { server, client } = await startH2Pair(t)
      const tunnel = client.connect({ path: 'target.test:443' })
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.together(() => peer.head(id, status).data(id, 'who are you', true).reset(id, NO_ERROR))
      const { statusCode, socket } = await tunnel
      assert.equal(statusCode, status)
      assert.equal(String(await contentOf(socket)), 'who are you')
      await eventually(() => socket.closed)
      assert.equal(socket.errored, null)
      assert.equal(client.stats.running, 0)
    })
  }

  for (const way of ['nobody reads', 'it was read to its end'] as const) {
    test(`the end of the peer, then RST_STREAM of NO_ERROR, is no error: ${way}`, async (t) => {
      const { client, peer, id, socket } = await tunnelled(t)
      const events: string[] = []
      for (const name of ['end', 'error', 'close']) socket.on(name, () => events.push(name))
      if (way !== 'nobody reads') socket.resume()
      peer.data(id, '', true)
      await once(socket, 'end')
      peer.reset(id, NO_ERROR)
      await once(socket, 'close')
      assert.deepEqual(events, ['end', 'close'])
      await eventually(() => client.stats.running === 0)
    })
  }

  test('the end of the peer in the read of its head is heard by whoever awaits the socket', async (t) => {
    const { server, client } = await startH2Pair(t)
    const tunnel = client.connect({ path: 'target.test:443' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => peer.head(id, 200).data(id, '', true))
    const { socket } = await tunnel
    await once(socket, 'end')
    socket.end()
    await once(socket, 'close')
  })

  for (const allowHalfOpen of [true, false]) {
    test(`the end of the peer, and nobody reads: allowHalfOpen ${allowHalfOpen}, as a socket`, async (t) => {
      const { client, peer, id, socket } = await tunnelled(t)
      socket.allowHalfOpen = allowHalfOpen
      const plain = net.createServer({ allowHalfOpen: true }, (other) => other.end()).listen(0, '127.0.0.1')
      await once(plain, 'listening')
      t.after(() => void plain.close())
      const like = net.connect({ port: (plain.address() as net.AddressInfo).port, allowHalfOpen })
      t.after(() => void like.destroy())
      const events: Record<'tunnel' | 'socket', string[]> = { tunnel: [], socket: [] }
      for (const name of ['end', 'finish', 'close']) {
        socket.on(name, () => events.tunnel.push(name))
        like.on(name, () => events.socket.push(name))
      }
      peer.data(id, '', true)
      const last = allowHalfOpen ? 'end' : 'close'
      await eventually(() => events.tunnel.includes(last) && events.socket.includes(last))
      await turns(10)
      assert.deepEqual(events.tunnel, events.socket)
      assert.deepEqual(events.tunnel, allowHalfOpen ? ['end'] : ['end', 'finish', 'close'])
      socket.end()
      like.end()
      await eventually(() => events.tunnel.includes('close') && events.socket.includes('close'))
      assert.deepEqual(events.tunnel, events.socket)
      await eventually(() => client.stats.running === 0)
    })
  }

  test('what could not be sent to a peer that closed both directions is an error, behind its end', async (t) => {
    const { peer, id, socket } = await tunnelled(t)
    socket.write(Buffer.alloc(400_000))
    for (let got = 0; got < 65_535; ) got += (await peer.frame(DATA, id)).payload.length
    peer.together(() => peer.data(id, 'enough', true).reset(id, NO_ERROR))
    const failed = once(socket, 'error')
    socket.setEncoding('utf8')
    const [text] = (await once(socket, 'data')) as [string]
    assert.equal(text, 'enough')
    assert.match(((await failed)[0] as Error).message, /stream closed by the server/)
  })

  test('nothing is sent to a peer that closed both directions: end() is fine, a write is not', async (t) => {
    for (const text of [undefined, 'too late']) {
      const { client, peer, id, socket } = await tunnelled(t)
      peer.together(() => peer.data(id, 'bye', true).reset(id, NO_ERROR))
      await eventually(() => client.stats.running === 0)
      const errors: Error[] = []
      socket.on('error', (error) => errors.push(error))
      if (text !== undefined) socket.write(text)
      socket.end()
      await eventually(() => socket.writableFinished || socket.errored !== null)
      socket.resume()
      await eventually(() => socket.closed)
      assert.deepEqual(
        errors.map(({ message }) => message),
        text === undefined ? [] : ['HTTP/2: stream closed by the server'],
      )
    }
  })

  test('a tunnel that is opened and reset at once: who awaits it hears the error', async (t) => {
    const { server, client } = await startH2Pair(t)
    const tunnel = client.connect({ path: 'target.test:443' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => peer.head(id, 200).reset(id, CONNECT_ERROR))
    const { socket } = await tunnel
    const [error] = (await once(socket, 'error')) as [{ http2ErrorCode: number }]
    assert.equal(error.http2ErrorCode, CONNECT_ERROR)
  })

  test('and who destroys it hears nothing', async (t) => {
    const { server, client } = await startH2Pair(t)
    const tunnel = client.connect({ path: 'target.test:443' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => peer.head(id, 407).reset(id, CONNECT_ERROR))
    const { socket } = await tunnel
    socket.destroy()
    await eventually(() => socket.closed)
    await turns(2)
  })

  test('reset before the head', async (t) => {
    const { server, client } = await startH2Pair(t)
    const tunnel = failure(client.connect({ path: 'target.test:443' }))
    const peer = await server.accept()
    peer.reset((await peer.request()).id, INTERNAL_ERROR)
    const error = await tunnel
    assert.equal(error['code'], 'UND_ERR_INFO')
    assert.equal(error['http2ErrorCode'], INTERNAL_ERROR)
  })

  test('refused: sent again', async (t) => {
    const { server, client } = await startH2Pair(t)
    const tunnel = client.connect({ path: 'target.test:443' })
    const peer = await server.accept()
    peer.reset((await peer.request()).id, REFUSED_STREAM)
    peer.head((await peer.request()).id, 200)
    const { socket } = await tunnel
    socket.destroy()
  })

  test('runs beside other requests', async (t) => {
    const { client, peer, socket } = await tunnelled(t)
    const handler = send(client)
    peer.respond((await peer.request()).id)
    await handler.settled
    assert.equal(handler.body, 'ok')
    assert.equal(client.stats.running, 1)
    socket.destroy()
    assert.equal(client.stats.running, 0)
  })

  test('a callback that throws destroys the socket and nothing else', async (t) => {
    const { server, client } = await startH2Pair(t)
    const thrown = new Error('in onRequestUpgrade')
    let socketError: unknown = null
    const handler = send(client, { method: 'CONNECT', path: 'target.test:443' }, (method, { socket }) => {
      if (method !== 'onRequestUpgrade') return
      socket!.on('error', (error) => {
        socketError = error
      })
      throw thrown
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200)
    await handler.settled
    assert.equal(await peer.resetOf(id), CANCEL)
    await eventually(() => socketError !== null)
    assert.equal(socketError, thrown)
    assert.deepEqual(handler.errors, [])
  })
})

describe('WebSocket over HTTP/2 (extended CONNECT)', () => {
  const options = { path: '/chat', protocol: 'websocket' } as const

  test('asks as RFC 8441 says, and hands the stream over', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: EXTENDED })
    const upgrade = client.upgrade({ ...options, headers: { 'sec-websocket-version': '13' } })
    const peer = await server.accept()
    const { id, fields } = await peer.request()
    assert.deepEqual(fields, [
      ':method',
      'CONNECT',
      ':scheme',
      'http',
      ':authority',
      server.url.slice(7),
      ':path',
      '/chat',
      ':protocol',
      'websocket',
      'sec-websocket-version',
      '13',
    ])
    peer.head(id, 200, ['sec-websocket-protocol', 'chat'])
    const { headers, socket } = await upgrade
    assert.equal(headers['sec-websocket-protocol'], 'chat')
    socket.write('frame')
    assert.equal((await peer.frame(DATA, id)).payload.toString(), 'frame')
    peer.data(id, 'back')
    assert.equal(String((await once(socket, 'data'))[0]), 'back')
    socket.end()
    assert.equal((await peer.frame(DATA, id)).flags, FLAG_END_STREAM)
    socket.destroy()
  })

  test('a server that does not have it', async (t) => {
    const { server, client } = await startH2Pair(t)
    const error = await failure(client.upgrade(options))
    assert.equal(error['code'], 'UND_ERR_INFO')
    assert.match(error.message, /^HTTP\/2: Extended CONNECT protocol not supported by server/)
    const next = send(client)
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
    assert.equal(server.count, 1)
  })

  test('a server that withdraws it breaks the protocol', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: EXTENDED })
    const handler = send(client)
    const peer = await server.accept()
    await peer.request()
    peer.settings([[SETTINGS_ENABLE_CONNECT_PROTOCOL, 0]])
    await handler.settled
    const error = handler.error as Error & { code: string }
    assert.equal(error.code, 'UND_ERR_INFO')
    assert.match(error.message, /^HTTP\/2: Server disabled extended CONNECT protocol against RFC-8441/)
    await peer.closed()
  })

  for (const status of [204, 302, 404, 503]) {
    test(`status ${status} is no upgrade`, async (t) => {
      const { server, client } = await startH2Pair(t, {}, { settings: EXTENDED })
      const upgrade = failure(client.upgrade(options))
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.head(id, status, [], status !== 503)
      if (status === 503) peer.data(id, 'busy')
      const error = await upgrade
      assert.equal(error['code'], 'UND_ERR_SOCKET')
      assert.match(error.message, /^bad upgrade/)
      assert.equal(error['socket'], null)
      await eventually(() => client.stats.running === 0)
      const next = send(client)
      peer.respond((await peer.request()).id)
      await next.settled
      assert.equal(next.body, 'ok')
    })
  }

  test('other protocols are refused before anything is sent', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: EXTENDED })
    const error = await failure(client.upgrade({ path: '/' }))
    assert.equal(error['code'], 'UND_ERR_INVALID_ARG')
    assert.equal(error.message, 'Custom upgrade "Websocket" not supported over HTTP/2')
    const peer = await server.accept()
    await turns(2)
    assert.equal(peer.requests.length, 0)
  })
})
