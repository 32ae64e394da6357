import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
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
})

it('RUNTIME_DEBUG=websocket writes what happens', async (t) => {
  const raw = await startRawServer(t)
  const script = `
    const { Client } = await import(${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)})
    const { WebSocket } = await import(${JSON.stringify(new URL('../../src/websocket/websocket.ts', import.meta.url).href)})
    const dispatcher = new Client('http://127.0.0.1:${raw.port}')
    const socket = new WebSocket('ws://user:secret@127.0.0.1:${raw.port}/chat', { dispatcher })
    socket.onclose = () => dispatcher.close()
  `
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, RUNTIME_DEBUG: 'websocket' },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    output += String(chunk)
  })
  const peer = await raw.accept()
  peer.send(serverFrame(PING), serverFrame(PONG), serverFrame(CLOSE, closePayload(3000, 'bye')))
  await once(child, 'close')
  const lines = output.trim().split('\n')
  const label = `WEBSOCKET ${child.pid}: `
  const host = `127.0.0.1:${raw.port}`
  assert.deepEqual(lines, [
    `${label}connecting to ${host} using http:h1`,
    `${label}connected to ${host} using http:h1`,
    `${label}sending request to GET http://${host}/chat`,
    `${label}connection opened 127.0.0.1`,
    `${label}ping received`,
    `${label}pong received`,
    `${label}closed connection to ws://${host}/chat - 3000 bye`,
  ])
})
