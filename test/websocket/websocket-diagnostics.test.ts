import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import { describe, it, type TestContext } from 'node:test'
import { ping, type WebSocket } from '../../src/websocket/websocket.ts'
import { CLOSE, closePayload, PING, PONG, serverFrame } from '../protocol/websocket/server-frames.ts'
import { closed, startRawServer } from './raw-server.ts'

function listen<T>(t: TestContext, name: string): T[] {
  const seen: T[] = []
  const listener = (message: unknown): void => void seen.push(message as T)
  diagnostics.subscribe(`undici:websocket:${name}`, listener)
  t.after(() => diagnostics.unsubscribe(`undici:websocket:${name}`, listener))
  return seen
}

interface OpenMessage {
  readonly address: { readonly address: string; readonly family: string; readonly port: number }
  readonly protocol: string
  readonly extensions: string
  readonly websocket: WebSocket
  readonly handshakeResponse: { status: number; statusText: string; headers: Record<string, string> }
}

/** Names of the messages in the order in which they were published. */
function publications(t: TestContext): string[] {
  const names: string[] = []
  for (const name of ['open', 'close', 'socket_error', 'ping', 'pong']) {
    const listener = (): void => void names.push(name)
    diagnostics.subscribe(`undici:websocket:${name}`, listener)
    t.after(() => diagnostics.unsubscribe(`undici:websocket:${name}`, listener))
  }
  return names
}

describe('the channels', () => {
  it('open, ping, pong and close', async (t) => {
    const opens = listen<OpenMessage>(t, 'open')
    const pings = listen<{ payload: Buffer; websocket: WebSocket }>(t, 'ping')
    const pongs = listen<{ payload: Buffer; websocket: WebSocket }>(t, 'pong')
    const closes = listen<{ websocket: WebSocket; code: number; reason: string }>(t, 'close')
    const raw = await startRawServer(t, {
      headers: { 'sec-websocket-protocol': 'chat', 'sec-websocket-extensions': 'permessage-deflate' },
    })
    const [socket, peer] = await raw.pair({ protocols: 'chat' })
    assert.equal(opens.length, 1)
    const { address, websocket, handshakeResponse, ...agreed } = opens[0]!
    assert.equal(websocket, socket)
    assert.deepEqual(agreed, { protocol: 'chat', extensions: 'permessage-deflate' })
    assert.deepEqual([address.address, address.family], ['127.0.0.1', 'IPv4'])
    assert.ok(address.port > 0)
    assert.deepEqual([handshakeResponse.status, handshakeResponse.statusText], [101, 'Switching Protocols'])
    assert.equal(handshakeResponse.headers['sec-websocket-protocol'], 'chat')

    ping(socket, Buffer.from('out'))
    assert.equal(String((await peer.frame())!.payload), 'out')
    const close = closed(socket)
    let publishedBefore = -1
    socket.onclose = () => {
      publishedBefore = closes.length
    }
    peer.send(
      serverFrame(PONG, 'out'),
      serverFrame(PING, 'in'),
      serverFrame(CLOSE, closePayload(3000, 'why')),
    )
    await close
    assert.deepEqual(
      pongs.map(({ payload, websocket: owner }) => [String(payload), owner === socket]),
      [['out', true]],
    )
    assert.deepEqual(
      pings.map(({ payload, websocket: owner }) => [String(payload), owner === socket]),
      [['in', true]],
    )
    assert.equal(publishedBefore, 0)
    assert.deepEqual(closes, [{ websocket: socket, code: 3000, reason: 'why' }])
  })

  it('open comes after the event', async (t) => {
    const opens = listen(t, 'open')
    const raw = await startRawServer(t)
    const socket = raw.open()
    const before = await new Promise<number>((resolve) => {
      socket.onopen = () => resolve(opens.length)
    })
    assert.equal(before, 0)
  })

  it('socket_error: the error itself', async (t) => {
    const seen = listen<Error>(t, 'socket_error')
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const close = closed(socket)
    ;(peer.socket as unknown as { resetAndDestroy(): void }).resetAndDestroy()
    await close
    assert.equal(seen.length, 1)
    assert.equal((seen[0] as NodeJS.ErrnoException).code, 'ECONNRESET')
  })

  it('each message has just these properties', async (t) => {
    const seen: Record<string, object[]> = {}
    for (const name of ['open', 'ping', 'pong', 'close']) seen[name] = listen<object>(t, name)
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const close = closed(socket)
    peer.send(serverFrame(PING), serverFrame(PONG), serverFrame(CLOSE))
    await close
    const keys = Object.entries(seen).map(([name, [message]]) => [name, Object.keys(message!).sort()])
    assert.deepEqual(Object.fromEntries(keys), {
      open: ['address', 'extensions', 'handshakeResponse', 'protocol', 'websocket'],
      ping: ['payload', 'websocket'],
      pong: ['payload', 'websocket'],
      close: ['code', 'reason', 'websocket'],
    })
    const { address, handshakeResponse } = seen['open']![0] as OpenMessage
    assert.deepEqual(Object.keys(address).sort(), ['address', 'family', 'port'])
    assert.deepEqual(Object.keys(handshakeResponse).sort(), ['headers', 'status', 'statusText'])
    const { payload } = seen['ping']![0] as { payload: Buffer }
    assert.deepEqual(payload, Buffer.alloc(0))
    assert.deepEqual(seen['close'], [{ websocket: socket, code: 1005, reason: '' }])
  })

  it('a handshake that fails: only close', async (t) => {
    const names = publications(t)
    const closes = listen<{ code: number; reason: string }>(t, 'close')
    const raw = await startRawServer(t, { answer: () => 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n' })
    await closed(raw.open())
    assert.deepEqual(names, ['close'])
    assert.deepEqual([closes[0]!.code, closes[0]!.reason], [1006, ''])
  })

  it('behind a close frame nothing is a ping or pong any more', async (t) => {
    const names = publications(t)
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const close = closed(socket)
    peer.send(serverFrame(PONG), serverFrame(CLOSE), serverFrame(PING), serverFrame(PONG))
    await close
    assert.deepEqual(names, ['open', 'pong', 'close'])
  })

  it('a server that breaks the rules is no error of the socket', async (t) => {
    const names = publications(t)
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const close = closed(socket)
    peer.send(serverFrame(0x3))
    await close
    assert.deepEqual(names, ['open', 'close'])
  })
})
