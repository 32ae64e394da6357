import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { Agent } from '../../src/dispatcher/agent.ts'
import { Client, type Dispatcher, type DispatchHandler, errors, H2CClient } from '../../src/index.ts'
import { ping, WebSocket, type WebSocketInit } from '../../src/websocket/websocket.ts'
import { CLOSE, closePayload, PING, serverFrame, TEXT } from '../protocol/websocket/server-frames.ts'
import { authority, localhost } from '../support/certificates.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { closed, messages, opened, RawPeer, record } from './raw-server.ts'

const warnings: Error[] = []
process.on('warning', (warning) => warnings.push(warning))

interface Http2Server {
  readonly origin: string
  readonly requests: http2.IncomingHttpHeaders[]
  open(init?: WebSocketInit): WebSocket
  pair(init?: WebSocketInit): Promise<[WebSocket, RawPeer]>
  readonly streams: http2.ServerHttp2Stream[]
}

interface OpenMessage {
  readonly address: AddressInfo
  readonly websocket: WebSocket
  readonly handshakeResponse: { status: number; statusText: string; headers: Record<string, string> }
}

interface Options {
  readonly tls: boolean
  readonly answer?: http2.OutgoingHttpHeaders
}

async function start(t: TestContext, { tls, answer = { ':status': 200 } }: Options): Promise<Http2Server> {
  const settings = { enableConnectProtocol: true }
  const server = tls ? http2.createSecureServer({ ...localhost, settings }) : http2.createServer({ settings })
  const peers: RawPeer[] = []
  const requests: http2.IncomingHttpHeaders[] = []
  const streams: http2.ServerHttp2Stream[] = []
  const sessions: http2.ServerHttp2Session[] = []
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream, headers) => {
    requests.push(headers)
    streams.push(stream)
    stream.on('error', () => {})
    stream.respond(answer)
    peers.push(new RawPeer(stream))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const origin = `${tls ? 'https' : 'http'}://localhost:${port}`
  const client = tls ? new Client(origin, { connect: { ca: authority } }) : new H2CClient(origin)
  t.after(async () => {
    await client.destroy()
    for (const session of sessions) session.destroy()
    server.close()
  })
  const open = (init: WebSocketInit = {}): WebSocket =>
    new WebSocket(`${origin.replace('http', 'ws')}/chat?x=1`, { dispatcher: client, ...init })
  return {
    origin,
    requests,
    streams,
    open,
    pair: async (init) => {
      const socket = open(init)
      await opened(socket)
      return [socket, peers.at(-1)!]
    },
  }
}

for (const tls of [true, false]) {
  describe(`over HTTP/2${tls ? ' and TLS' : ' in cleartext'}`, () => {
    it('opens by extended CONNECT', async (t) => {
      const server = await start(t, { tls, answer: { ':status': 200, 'sec-websocket-protocol': 'chat' } })
      const [socket] = await server.pair({ protocols: ['chat'] })
      const [headers] = server.requests
      assert.equal(headers![':method'], 'CONNECT')
      assert.equal(headers![':protocol'], 'websocket')
      assert.equal(headers![':path'], '/chat?x=1')
      assert.equal(headers![':scheme'], tls ? 'https' : 'http')
      assert.equal(headers!['sec-websocket-version'], '13')
      assert.equal(headers!['sec-websocket-protocol'], 'chat')
      assert.equal(headers!['sec-websocket-key'], undefined)
      assert.equal(headers!['connection'], undefined)
      assert.equal(headers!['upgrade'], undefined)
      assert.deepEqual([socket.protocol, socket.extensions, socket.readyState], ['chat', '', 1])
    })

    it('tells the local end of the connection and the answer when it opens', async (t) => {
      const server = await start(t, { tls, answer: { ':status': 200, 'x-answer': 'yes' } })
      const published = new Promise<OpenMessage>((resolve) => {
        const listener = (message: unknown): void => resolve(message as OpenMessage)
        channel('undici:websocket:open').subscribe(listener)
        t.after(() => channel('undici:websocket:open').unsubscribe(listener))
      })
      const [socket] = await server.pair()
      const { address, websocket, handshakeResponse } = await published
      assert.deepEqual([address.address, address.family], ['127.0.0.1', 'IPv4'])
      assert.equal(Number.isInteger(address.port), true)
      assert.equal(websocket, socket)
      const { status, statusText, headers } = handshakeResponse
      assert.deepEqual([status, statusText, headers['x-answer']], [200, 'OK', 'yes'])
    })

    it('messages both ways, and a clean close', async (t) => {
      const server = await start(t, { tls })
      const [socket, peer] = await server.pair()
      const received = messages(socket, 2)
      peer.send(serverFrame(PING, 'p'), serverFrame(TEXT, 'hello'), serverFrame(TEXT, 'x'.repeat(1_000_000)))
      assert.equal((await peer.frame())!.opcode, 10)
      assert.equal(((await received)[1] as string).length, 1_000_000)
      const close = closed(socket)
      socket.send('y'.repeat(1_000_000))
      assert.ok(socket.bufferedAmount > 0)
      assert.equal((await peer.frame())!.payload.length, 1_000_000)
      await eventually(() => socket.bufferedAmount === 0)
      socket.close(3000, 'done')
      assert.equal(await peer.closeFrame(), '3000 done')
      peer.send(serverFrame(CLOSE, closePayload(3000, 'ok')))
      const { code, reason, wasClean } = await close
      assert.deepEqual([code, reason, wasClean], [3000, 'ok', true])
    })

    it('a failure sends its close frame', async (t) => {
      const server = await start(t, { tls })
      const [socket, peer] = await server.pair()
      const events = record(socket)
      const close = closed(socket)
      peer.send(serverFrame(TEXT, Buffer.from([0xff])))
      assert.equal(await peer.closeFrame(), '1007 Invalid UTF-8')
      await close
      assert.deepEqual(events, ['error SocketError Invalid UTF-8', 'close 1006  unclean'])
    })

    it('a stream that is reset', async (t) => {
      const server = await start(t, { tls })
      const [socket] = await server.pair()
      const events = record(socket)
      const close = closed(socket)
      server.streams[0]!.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
      await close
      assert.match(events[0]!, /^error /)
      assert.equal(events[1], 'close 1006  unclean')
    })

    for (const status of [204, 302, 403]) {
      it(`status ${status} is refused`, async (t) => {
        const server = await start(t, { tls, answer: { ':status': status } })
        const socket = server.open()
        const events = record(socket)
        await closed(socket)
        assert.match(events[0]!, /^error TypeError Received network error or non-101/)
      })
    }
  })
}

it('two WebSockets share a connection, and ref, unref and ping work on a stream', async (t) => {
  const server = await start(t, { tls: true })
  const [first, firstPeer] = await server.pair()
  const [second, secondPeer] = await server.pair()
  assert.equal(server.streams[0]!.session, server.streams[1]!.session)
  const members = first as unknown as Record<symbol, () => void>
  members[Symbol.for('nodejs.unref')]!()
  members[Symbol.for('nodejs.ref')]!()
  ping(first, Buffer.from('one'))
  ping(second)
  assert.equal(String((await firstPeer.frame())!.payload), 'one')
  assert.equal((await secondPeer.frame())!.payload.length, 0)
})

it('permessage-deflate', async (t) => {
  const server = await start(t, {
    tls: true,
    answer: { ':status': 200, 'sec-websocket-extensions': 'permessage-deflate' },
  })
  const [socket, peer] = await server.pair()
  const received = messages(socket, 1)
  peer.send(Buffer.from('c107f248cdc9c90700', 'hex'))
  assert.deepEqual(await received, ['Hello'])
  socket.send('x'.repeat(5000))
  const frame = await peer.frame()
  assert.equal(frame!.rsv, 4)
  assert.ok(frame!.payload.length < 100)
})

it('a server that speaks HTTP/2 but takes no WebSockets over it is asked over HTTP/1.1', async (t) => {
  const server = http2.createSecureServer({ ...localhost, allowHTTP1: true })
  const versions: string[] = []
  server.on('session', () => versions.push('h2'))
  server.on('upgrade', (request, socket) => {
    versions.push(request.httpVersion)
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.end(
      `HTTP/1.1 101 x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ connect: { ca: authority } })
  const client = new Client(`https://localhost:${port}`, { connect: { ca: authority } })
  t.after(async () => {
    await agent.destroy()
    await client.destroy()
    server.close()
  })
  const socket = new WebSocket(`wss://localhost:${port}`, { dispatcher: agent })
  await opened(socket)
  await closed(socket)
  assert.deepEqual(versions, ['h2', '1.1'])
  // A client has one connection, and cannot.
  const other = new WebSocket(`wss://localhost:${port}`, { dispatcher: client })
  const events = record(other)
  await closed(other)
  assert.match(events[0]!, /^error TypeError/)
})

it('none of this warns of anything', async () => {
  await turns(1)
  assert.deepEqual(warnings, [])
})

it('what a WebSocket falls back for is known by a code, whatever the words', async () => {
  const asked: unknown[] = []
  const answering = (error: Error): Dispatcher =>
    ({
      dispatch(options: { allowH2?: boolean }, handler: DispatchHandler) {
        asked.push(options.allowH2)
        handler.onResponseError?.(null, error)
      },
    }) as unknown as Dispatcher
  const cause = { code: 'H2_NO_EXTENDED_CONNECT', message: '' }
  const known = new WebSocket('ws://a.test', {
    dispatcher: answering(new errors.InformationalError('other words', { cause })),
  })
  await closed(known)
  assert.deepEqual(asked.splice(0), [undefined, false])
  const words = 'HTTP/2: Extended CONNECT protocol not supported by server'
  const unknown = new WebSocket('ws://a.test', {
    dispatcher: answering(new errors.InformationalError(words)),
  })
  await closed(unknown)
  assert.deepEqual(asked, [undefined])
})
