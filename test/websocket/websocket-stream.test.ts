import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { getEventListeners, once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import {
  errors,
  H2CClient,
  type WebSocketConnectionInfo,
  WebSocketError,
  WebSocketStream,
  type WebSocketStreamOptions,
} from '../../src/index.ts'
import { BINARY, CLOSE, closePayload, serverFrame, TEXT } from '../protocol/websocket/server-frames.ts'
import { failure } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { RawPeer, type RawServer, type RawServerOptions, startRawServer } from './raw-server.ts'

interface Pair extends WebSocketConnectionInfo {
  readonly server: RawServer
  readonly stream: WebSocketStream
  readonly peer: RawPeer
}

async function openPair(
  t: TestContext,
  options: WebSocketStreamOptions = {},
  serverOptions: RawServerOptions = {},
): Promise<Pair> {
  const server = await startRawServer(t, serverOptions)
  const stream = open(server, options)
  const info = await stream.opened
  return { server, stream, peer: await server.accept(), ...info }
}

function open(server: RawServer, options: WebSocketStreamOptions = {}): WebSocketStream {
  return new WebSocketStream(`ws://127.0.0.1:${server.port}/`, { dispatcher: server.client, ...options })
}

/** Both sides have sent a close frame. */
async function closeCleanly(peer: RawPeer): Promise<string> {
  const received = await peer.closeFrame()
  peer.send(serverFrame(CLOSE, closePayload(1000)))
  return received
}

describe('the constructor', () => {
  test('refuses arguments', () => {
    assert.throws(() => Reflect.construct(WebSocketStream, []), {
      name: 'TypeError',
      message: 'WebSocketStream constructor: 1 argument required, but 0 found.',
    })
    for (const [url, options, name, message] of [
      ['nope', null, 'SyntaxError', 'TypeError: Invalid URL'],
      ['ftp://x', null, 'SyntaxError', 'expected a ws: or wss: url'],
      ['ws://x/#a', null, 'SyntaxError', 'hash'],
      ['ws://x', { protocols: ['a', 'a'] }, 'SyntaxError', 'Invalid Sec-WebSocket-Protocol value'],
      ['ws://x', { protocols: ['a b'] }, 'SyntaxError', 'Invalid Sec-WebSocket-Protocol value'],
      [
        'ws://x',
        { protocols: 'chat' },
        'TypeError',
        'WebSocketStream constructor: protocols ("chat") is not iterable.',
      ],
      [
        'ws://x',
        { protocols: null },
        'TypeError',
        'WebSocketStream constructor: protocols (null) is not iterable.',
      ],
      ['ws://x', { protocols: {} }, 'TypeError', 'WebSocketStream constructor: protocols is not iterable.'],
      ['ws://x', { dispatcher: {} }, 'TypeError', 'dispatcher must implement dispatch'],
      [
        'ws://x',
        { signal: 5 },
        'TypeError',
        'WebSocketStream constructor: Expected signal ("5") to be an instance of AbortSignal.',
      ],
      [
        'ws://x',
        5,
        'TypeError',
        'WebSocketStream constructor: Expected 5 to be one of: Null, Undefined, Object.',
      ],
    ] as const) {
      assert.throws(() => new WebSocketStream(url, options as never), { name, message })
    }
  })

  test('accepts null, and warns of nothing', async (t) => {
    const warnings: Error[] = []
    const warn = (warning: Error): void => void warnings.push(warning)
    process.on('warning', warn)
    t.after(() => process.off('warning', warn))
    const stream = new WebSocketStream('http://localhost:1', null)
    assert.equal(stream.url, 'ws://localhost:1/')
    assert.equal(Object.prototype.toString.call(stream), '[object WebSocketStream]')
    stream.close()
    await turns(3)
    assert.deepEqual(warnings, [])
  })
})

describe('opened', () => {
  test('gives the streams, the protocol and the extensions', async (t) => {
    const headers = { 'sec-websocket-protocol': 'b' }
    const options = { protocols: ['a', 'b'], headers: { 'x-token': '1' } }
    const { stream, server, ...info } = await openPair(t, options, { headers })
    assert.deepEqual([info.protocol, info.extensions], ['b', ''])
    assert.equal(stream.opened, stream.opened)
    assert.equal(server.requests[0]!.headers['sec-websocket-protocol'], 'a, b')
    assert.equal(server.requests[0]!.headers['x-token'], '1')
  })

  test('rejects with the cause if the socket never opened', async (t) => {
    const port = await refusingPort(t)
    const server = await startRawServer(t, { answer: () => 'HTTP/1.1 404 Not Found\r\n\r\n' })
    for (const stream of [open(server), new WebSocketStream(`ws://127.0.0.1:${port}`)]) {
      const opened = await failure(stream.opened)
      assert.ok((opened as unknown) instanceof WebSocketError)
      assert.deepEqual([opened.message, opened['closeCode']], ['Socket never opened', null])
      assert.ok(opened.cause instanceof Error)
      const closed = await failure(stream.closed)
      assert.deepEqual([closed.message, closed['closeCode'], closed['reason']], ['unclean close', 1006, ''])
      assert.equal(closed.cause, opened.cause)
    }
  })

  test('close() before it gives up', async (t) => {
    const server = await startRawServer(t, { answer: () => null })
    const stream = open(server)
    await eventually(() => server.requests.length === 1)
    stream.close()
    assert.equal((await failure(stream.opened)).message, 'Socket never opened')
    assert.equal((await failure(stream.closed)).message, 'unclean close')
  })

  test('unread rejections are not unhandled', async (t) => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    t.after(() => process.off('unhandledRejection', note))
    const server = await startRawServer(t, { answer: () => 'HTTP/1.1 404 Not Found\r\n\r\n' })
    const stream = open(server)
    await failure(stream.closed)
    const { peer } = await openPair(t)
    peer.socket.destroy()
    await turns(20)
    assert.deepEqual(unhandled, [])
  })
})

describe('a signal', () => {
  test('without a reason rejects with an AbortError', async (t) => {
    const server = await startRawServer(t, { answer: () => null })
    const late = Object.assign(new EventTarget(), { aborted: false, reason: undefined })
    const early = Object.assign(new EventTarget(), { aborted: true, reason: undefined })
    for (const signal of [early, late]) {
      const stream = open(server, { signal: signal as never })
      late.dispatchEvent(new Event('abort'))
      for (const promise of [stream.opened, stream.closed]) {
        assert.equal((await failure(promise)).name, 'AbortError')
      }
    }
  })

  test('aborted before it opens rejects both with its reason', async (t) => {
    const server = await startRawServer(t, { answer: () => null })
    const controller = new AbortController()
    const stream = open(server, { signal: controller.signal })
    await eventually(() => server.requests.length === 1)
    const reason = new Error('enough')
    controller.abort(reason)
    assert.equal(await failure(stream.opened), reason)
    assert.equal(await failure(stream.closed), reason)
  })

  test('aborted already sends nothing', async (t) => {
    const server = await startRawServer(t)
    const stream = open(server, { signal: AbortSignal.abort() })
    assert.equal((await failure(stream.opened)).name, 'AbortError')
    await turns(10)
    assert.equal(server.requests.length, 0)
  })

  test('has no effect and no listener afterwards', async (t) => {
    const controller = new AbortController()
    const { peer, readable } = await openPair(t, { signal: controller.signal })
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
    controller.abort()
    peer.send(serverFrame(TEXT, 'still here'))
    const reader = readable.getReader()
    assert.equal((await reader.read()).value, 'still here')
  })
})

describe('readable', () => {
  test('gives strings and bytes', async (t) => {
    const { peer, readable } = await openPair(t)
    peer.send(serverFrame(TEXT, 'é'), serverFrame(BINARY, Uint8Array.of(1, 2)))
    const reader = readable.getReader()
    assert.equal((await reader.read()).value, 'é')
    const { value } = await reader.read()
    assert.ok(value instanceof Uint8Array && !Buffer.isBuffer(value))
    assert.deepEqual([...value], [1, 2])
  })

  test('pauses the socket while messages wait', async (t) => {
    const { peer, readable } = await openPair(t)
    const frame = serverFrame(BINARY, new Uint8Array(65_536))
    const frames = 400
    let sent = 0
    const write = (): void => {
      while (sent < frames) {
        sent++
        if (!peer.socket.write(frame)) {
          peer.socket.once('drain', write)
          return
        }
      }
    }
    write()
    let before = -1
    while (before !== sent) {
      before = sent
      await turns(50)
    }
    assert.ok(sent < frames, 'everything was read')
    const reader = readable.getReader()
    for (let i = 0; i < frames; i++) assert.equal((await reader.read()).value!.length, 65_536)
    assert.equal(sent, frames)
  })

  test('pauses between compressed messages, too', async (t) => {
    const headers = { 'sec-websocket-extensions': 'permessage-deflate' }
    const { peer, readable } = await openPair(t, {}, { headers })
    const { deflateRawSync } = await import('node:zlib')
    const deflated = deflateRawSync('x'.repeat(100), { finishFlush: 2 }).subarray(0, -4)
    const frame = serverFrame(TEXT, deflated, { rsv: 4 })
    for (let i = 0; i < 50; i++) peer.send(frame)
    const reader = readable.getReader()
    for (let i = 0; i < 50; i++) assert.equal((await reader.read()).value!.length, 100)
  })

  test('cancel() closes', async (t) => {
    const { peer, readable, stream } = await openPair(t)
    await readable.cancel('any reason')
    assert.equal(await closeCleanly(peer), 'empty')
    assert.deepEqual(await stream.closed, { closeCode: 1000, reason: '' })
  })
})

describe('writable', () => {
  test('sends strings and bytes', async (t) => {
    const { peer, writable } = await openPair(t)
    const writer = writable.getWriter()
    const bytes = Uint8Array.of(1, 2, 3, 4)
    await writer.write('é')
    for (const chunk of [
      bytes,
      bytes.buffer,
      new DataView(bytes.buffer, 1, 2),
      new Uint16Array(bytes.buffer),
    ]) {
      await writer.write(chunk)
    }
    const frames = []
    for (let i = 0; i < 5; i++) frames.push((await peer.frame())!)
    assert.deepEqual(
      frames.map(({ opcode, payload }) => `${opcode} ${payload.toString(opcode === TEXT ? 'utf8' : 'hex')}`),
      ['1 é', '2 01020304', '2 01020304', '2 0203', '2 01020304'],
    )
  })

  test('refuses other values', async (t) => {
    for (const chunk of [5, null, undefined, {}, new Blob(['x'])]) {
      const { writable } = await openPair(t)
      const error = await failure(writable.getWriter().write(chunk as never))
      assert.equal(error.name, 'TypeError')
    }
  })

  test('refuses memory that can change while it waits', async (t) => {
    const Resizable = ArrayBuffer as new (length: number, options: object) => ArrayBuffer
    const resizable = new Resizable(2, { maxByteLength: 4 })
    const shared = new SharedArrayBuffer(2)
    for (const [chunk, message] of [
      [shared, 'A message cannot be a SharedArrayBuffer'],
      [new Uint8Array(shared), 'A message cannot be a view on a SharedArrayBuffer'],
      [resizable, 'A message cannot be a resizable ArrayBuffer'],
      [new DataView(resizable), 'A message cannot be a view on a resizable ArrayBuffer'],
    ] as const) {
      const { writable } = await openPair(t)
      const error = await failure(writable.getWriter().write(chunk as never))
      assert.deepEqual([error.name, error.message], ['TypeError', message])
    }
  })

  test('a write lasts until the socket has taken it', async (t) => {
    const { peer, writable } = await openPair(t)
    peer.socket.pause()
    const writer = writable.getWriter()
    let written = 0
    const total = 64
    const chunk = new Uint8Array(1_000_000)
    const all = (async () => {
      for (; written < total; written++) await writer.write(chunk)
    })()
    let before = -1
    while (before !== written) {
      before = written
      await turns(50)
    }
    assert.ok(written < total, 'the socket took everything')
    peer.socket.resume()
    await all
    assert.equal(written, total)
  })

  test('close() closes without a code, after what was written', async (t) => {
    const { peer, writable, stream } = await openPair(t)
    const writer = writable.getWriter()
    writer.write('last').catch(() => {})
    await writer.close()
    assert.equal((await peer.frame())!.payload.toString(), 'last')
    assert.equal(await closeCleanly(peer), 'empty')
    assert.deepEqual(await stream.closed, { closeCode: 1000, reason: '' })
  })

  test('abort() closes, with the code and reason of a WebSocketError', async (t) => {
    const foreign = await failure(new WebSocketStream('ws://localhost:1', { signal: null }).closed)
    for (const [reason, received] of [
      [new WebSocketError('', { closeCode: 3456, reason: 'mine' }), '3456 mine'],
      [new WebSocketError(), 'empty'],
      [new Error('other'), 'empty'],
      [foreign, 'empty'],
    ] as const) {
      const { peer, writable } = await openPair(t)
      await writable.abort(reason)
      assert.equal(await closeCleanly(peer), received)
    }
  })

  test('drops messages after the server has closed', async (t) => {
    const { peer, writable, readable, stream } = await openPair(t)
    const writer = writable.getWriter()
    peer.send(serverFrame(CLOSE, closePayload(3001, 'bye')))
    const reader = readable.getReader()
    // The close frame is read, and answered.
    assert.equal(await peer.closeFrame(), '3001 ')
    await Promise.allSettled([writer.write('late')])
    peer.socket.end()
    assert.deepEqual(await stream.closed, { closeCode: 3001, reason: 'bye' })
    assert.equal((await reader.read()).done, true)
    assert.equal(await peer.frame(), null)
  })
})

describe('close()', () => {
  test('sends a code and a reason', async (t) => {
    for (const [info, received] of [
      [undefined, 'empty'],
      [{}, 'empty'],
      [{ closeCode: 1000 }, '1000 '],
      [{ closeCode: 4321, reason: 'bye' }, '4321 bye'],
      [{ reason: 'alone' }, '1000 alone'],
    ] as const) {
      const { peer, stream } = await openPair(t)
      stream.close(info)
      stream.close({ closeCode: 3000 })
      assert.equal(await closeCleanly(peer), received)
      await stream.closed
    }
  })

  test('refuses what cannot be sent, whatever the state', async (t) => {
    const { stream } = await openPair(t)
    for (const [info, name] of [
      [{ closeCode: 1001 }, 'InvalidAccessError'],
      [{ closeCode: 70_000 }, 'TypeError'],
      [{ reason: 'x'.repeat(124) }, 'SyntaxError'],
      [5, 'TypeError'],
    ] as const) {
      assert.throws(() => stream.close(info as never), { name })
    }
  })

  test('drops what arrives after it, and does not wait for a reader', async (t) => {
    const { peer, stream, readable } = await openPair(t)
    for (let i = 0; i < 10; i++) peer.send(serverFrame(TEXT, 'unread'))
    const reader = readable.getReader()
    assert.equal((await reader.read()).value, 'unread')
    stream.close()
    assert.equal(await closeCleanly(peer), 'empty')
    await stream.closed
  })
})

describe('the end', () => {
  test('after a clean close: readable ends, writable is in error, closed resolves', async (t) => {
    const { peer, stream, readable, writable } = await openPair(t)
    peer.send(serverFrame(TEXT, 'last'), serverFrame(CLOSE))
    const { closeCode, reason } = await stream.closed
    assert.deepEqual([closeCode, reason], [1005, ''])
    const got: unknown[] = []
    for await (const message of readable) got.push(message)
    assert.deepEqual(got, ['last'])
    const error = await failure(writable.getWriter().write('x'))
    assert.equal(error.name, 'InvalidStateError')
  })

  test('without a close frame: everything is in error', async (t) => {
    const { peer, stream, readable, writable } = await openPair(t)
    const reader = readable.getReader()
    const reading = failure(reader.read())
    peer.socket.destroy()
    const closed = await failure(stream.closed)
    assert.ok((closed as unknown) instanceof WebSocketError)
    assert.deepEqual([closed.message, closed['closeCode'], closed['reason']], ['unclean close', 1006, ''])
    assert.ok(closed.cause instanceof errors.SocketError || closed.cause instanceof Error)
    assert.equal(await reading, closed)
    assert.equal(await failure(writable.getWriter().write('x')), closed)
  })

  test('while a write waits: the write rejects', async (t) => {
    const { peer, writable } = await openPair(t)
    peer.socket.pause()
    const writer = writable.getWriter()
    const writes = Array.from({ length: 64 }, () => writer.write(new Uint8Array(1_000_000)))
    const settled = Promise.allSettled(writes)
    await turns(50)
    peer.socket.destroy()
    const last = (await settled).at(-1)!
    assert.equal(last.status, 'rejected')
  })
})

test('the diagnostics channels name the stream', async (t) => {
  const published: [string, unknown][] = []
  for (const name of ['open', 'close'] as const) {
    const subscriber = (message: unknown): void =>
      void published.push([name, (message as { websocket: unknown }).websocket])
    channel(`undici:websocket:${name}`).subscribe(subscriber)
    t.after(() => channel(`undici:websocket:${name}`).unsubscribe(subscriber))
  }
  const { peer, stream } = await openPair(t)
  stream.close()
  await closeCleanly(peer)
  await stream.closed
  assert.deepEqual(published, [
    ['open', stream],
    ['close', stream],
  ])
})

test('over HTTP/2', async (t) => {
  const server = http2.createServer({ settings: { enableConnectProtocol: true } })
  const peers: RawPeer[] = []
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200 })
    peers.push(new RawPeer(stream))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const dispatcher = new H2CClient(`http://localhost:${port}`)
  t.after(async () => {
    await dispatcher.destroy()
    server.close()
  })
  const stream = new WebSocketStream(`ws://localhost:${port}`, { dispatcher })
  const { readable, writable } = await stream.opened
  const [peer] = peers as [RawPeer]
  await writable.getWriter().write('ping')
  assert.equal((await peer.frame())!.payload.toString(), 'ping')
  peer.send(serverFrame(TEXT, 'pong'))
  assert.equal((await readable.getReader().read()).value, 'pong')
  stream.close({ closeCode: 3000 })
  assert.equal(await closeCleanly(peer), '3000 ')
  assert.deepEqual(await stream.closed, { closeCode: 1000, reason: '' })
})
