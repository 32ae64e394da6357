import assert from 'node:assert/strict'
import { once } from 'node:events'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import * as ws from 'ws'
import { Client } from '../../src/index.ts'
import { WebSocket } from '../../src/websocket/websocket.ts'
import { BINARY, PING, serverFrame, TEXT } from '../protocol/websocket/server-frames.ts'
import { authority, localhost } from '../support/certificates.ts'
import { eventually } from '../support/fake-clock.ts'
import { closed, messages, opened, startRawServer } from './raw-server.ts'

interface Echo {
  readonly socket: WebSocket
  readonly server: ws.WebSocketServer
}

type Connect = (t: TestContext, deflate: boolean) => Promise<Echo>

const overTcp: Connect = async (t, deflate) => {
  const server = new ws.WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: deflate })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return connect(t, server, `http://127.0.0.1:${port}`, () => {})
}

const overTls: Connect = async (t, deflate) => {
  const listener = https.createServer(localhost)
  const server = new ws.WebSocketServer({ server: listener, perMessageDeflate: deflate })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const { port } = listener.address() as AddressInfo
  return connect(t, server, `https://localhost:${port}`, () => listener.close())
}

async function connect(
  t: TestContext,
  server: ws.WebSocketServer,
  origin: string,
  stop: () => void,
): Promise<Echo> {
  server.on('connection', (peer) => {
    peer.on('message', (data, binary) => peer.send(data, { binary }))
  })
  const client = new Client(origin, { connect: { ca: authority } })
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/echo`, { dispatcher: client })
  socket.binaryType = 'arraybuffer'
  t.after(async () => {
    for (const peer of server.clients) peer.terminate()
    await client.destroy()
    server.close()
    stop()
  })
  await opened(socket)
  return { socket, server }
}

const ways: [string, Connect][] = [
  ['HTTP/1.1', overTcp],
  ['HTTP/1.1 over TLS', overTls],
]

for (const [way, start] of ways) {
  for (const deflate of [false, true]) {
    describe(`${way}, permessage-deflate ${deflate ? 'on' : 'off'}`, () => {
      it('texts and bytes of all sizes come back', async (t) => {
        const { socket } = await start(t, deflate)
        assert.equal(socket.extensions, deflate ? 'permessage-deflate' : '')
        const sent: (string | Uint8Array)[] = []
        for (const size of [0, 1, 125, 126, 1023, 1024, 65_535, 65_536, 1_000_000]) {
          sent.push(
            '\u00fc'.repeat(size),
            new Uint8Array(size).map((_, i) => (i * i) >> 3),
          )
        }
        const received = messages(socket, sent.length)
        for (const message of sent) socket.send(message)
        for (const [i, data] of (await received).entries()) {
          const expected = sent[i]!
          if (typeof expected === 'string') assert.ok(data === expected, `text ${expected.length}`)
          else assert.ok(Buffer.from(data as ArrayBuffer).equals(expected), `bytes ${expected.length}`)
        }
        await eventually(() => socket.bufferedAmount === 0)
        socket.close()
        await closed(socket)
      })

      it('a clean close', async (t) => {
        const { socket, server } = await start(t, deflate)
        const [peer] = server.clients
        const heard = once(peer!, 'close')
        const close = closed(socket)
        socket.close(3456, 'enough')
        const { code, reason, wasClean } = await close
        assert.deepEqual([code, reason, wasClean], [3456, 'enough', true])
        const [serverCode, serverReason] = (await heard) as [number, Buffer]
        assert.deepEqual([serverCode, String(serverReason)], [3456, 'enough'])
      })
    })
  }
}

describe('sending', () => {
  it('each kind of data, in order, copied at the call', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const bytes = new Uint8Array([1, 2, 3, 4])
    socket.send(bytes)
    bytes.fill(0)
    socket.send(bytes.buffer)
    socket.send(new DataView(bytes.buffer, 1, 2))
    socket.send(new Uint16Array([0x0101]))
    socket.send(new Blob(['blob']))
    const later = new Uint8Array([9])
    socket.send(later)
    later.fill(0)
    socket.send('after')
    const odd = { toString: () => 'object' }
    const shared = new SharedArrayBuffer(2)
    for (const value of [odd, 5, null, undefined, shared, new Uint8Array(shared)]) socket.send(value as never)
    const frames: string[] = []
    for (let i = 0; i < 13; i++) {
      const frame = await peer.frame()
      assert.ok(frame!.fin && frame!.masked && frame!.rsv === 0)
      frames.push(`${frame!.opcode} ${frame!.opcode === 1 ? frame!.payload : frame!.payload.toString('hex')}`)
    }
    assert.deepEqual(frames, [
      '2 01020304',
      '2 00000000',
      '2 0000',
      '2 0101',
      `2 ${Buffer.from('blob').toString('hex')}`,
      '2 09',
      '1 after',
      '1 object',
      '1 5',
      '1 null',
      '1 undefined',
      '1 [object SharedArrayBuffer]',
      '1 0,0',
    ])
  })

  it('memory that was transferred is an empty message', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const buffer = new ArrayBuffer(4)
    const sent = [buffer, new Uint8Array(buffer, 1, 2), new DataView(buffer)]
    structuredClone(buffer, { transfer: [buffer] })
    for (const data of sent) {
      socket.send(data)
      const frame = await peer.frame()
      assert.deepEqual([frame!.opcode, frame!.payload.length], [2, 0])
    }
  })

  it('every frame has a key of its own', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const wire: Buffer[] = []
    peer.socket.on('data', (chunk: Buffer) => wire.push(chunk))
    for (let i = 0; i < 1100; i++) socket.send('')
    await eventually(() => Buffer.concat(wire).length === 1100 * 6)
    const bytes = Buffer.concat(wire)
    const keys = new Set(Array.from({ length: 1100 }, (_, i) => bytes.readUInt32LE(i * 6 + 2)))
    assert.ok(keys.size > 1090, `${keys.size} different keys`)
  })

  it('bufferedAmount grows by bytes and shrinks as the peer takes them', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    peer.socket.pause()
    assert.equal(socket.bufferedAmount, 0)
    socket.send('\u00fc')
    assert.equal(socket.bufferedAmount, 2)
    const megabyte = new Uint8Array(1_000_000)
    for (let i = 0; i < 40; i++) socket.send(megabyte)
    socket.send(new Blob(['1234']))
    assert.equal(socket.bufferedAmount, 40_000_006)
    socket.send('x')
    assert.equal(socket.bufferedAmount, 40_000_007)
    peer.socket.resume()
    await eventually(() => socket.bufferedAmount === 0)
  })

  it('before it is open throws, afterwards is ignored', async (t) => {
    const raw = await startRawServer(t)
    const socket = raw.open()
    assert.throws(() => socket.send('x'), { name: 'InvalidStateError' })
    await opened(socket)
    socket.close()
    socket.send('x')
    assert.equal(socket.bufferedAmount, 0)
    const peer = await raw.accept()
    assert.equal(await peer.closeFrame(), 'empty')
    peer.send(serverFrame(8))
    await closed(socket)
    socket.send('x')
    socket.send(new Blob(['x']))
    assert.equal(socket.bufferedAmount, 0)
  })

  it('refuses what has no string, and nothing at all', async (t) => {
    const raw = await startRawServer(t)
    const [socket] = await raw.pair()
    assert.throws(() => socket.send(Symbol('x') as never), TypeError)
    assert.throws(() => Reflect.apply(socket.send, socket, []), TypeError)
  })

  it('a Blob that cannot be read ends the connection', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const blob = new Blob(['x'])
    const reason = new Error('gone')
    blob.arrayBuffer = () => Promise.reject(reason)
    const error = new Promise<unknown>((resolve) => {
      socket.onerror = (event) => resolve(event.error)
    })
    socket.send(blob)
    assert.equal(await peer.closeFrame(), '1011 ')
    assert.equal(await error, reason)
  })
})

describe('receiving', () => {
  it('binary messages as Blob or ArrayBuffer', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    socket.binaryType = 'anything' as never
    assert.equal(socket.binaryType, 'blob')
    const first = messages(socket, 1)
    peer.send(serverFrame(BINARY, 'abc'))
    const [blob] = await first
    assert.ok(blob instanceof Blob)
    assert.equal(await blob.text(), 'abc')
    socket.binaryType = 'arraybuffer'
    const second = messages(socket, 1)
    peer.send(serverFrame(BINARY, 'abc'))
    const [buffer] = await second
    assert.ok(buffer instanceof ArrayBuffer)
    assert.equal(buffer.byteLength, 3)
  })

  it('the event says where it comes from', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const event = once(socket as EventTarget, 'message')
    peer.send(serverFrame(TEXT, 'hi'))
    const [message] = (await event) as [MessageEvent]
    assert.equal(message.origin, `ws://127.0.0.1:${raw.port}`)
    assert.equal(message.data, 'hi')
  })

  it('messages that came in the same packet as the handshake', async (t) => {
    const raw = await startRawServer(t, {
      answer: (_, accept) =>
        `HTTP/1.1 101 x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n` +
        serverFrame(TEXT, 'early').toString('latin1'),
    })
    const socket = raw.open()
    assert.deepEqual(await messages(socket, 1), ['early'])
  })

  it('pings are answered with what they carry', async (t) => {
    const raw = await startRawServer(t)
    const [, peer] = await raw.pair()
    peer.send(serverFrame(PING, 'are you there'), serverFrame(PING))
    assert.equal(String((await peer.frame())!.payload), 'are you there')
    const second = await peer.frame()
    assert.deepEqual([second!.opcode, second!.payload.length], [10, 0])
  })

  it('a peer that pings and does not read gets only the latest answer', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    peer.socket.pause()
    socket.send(new Uint8Array(20_000_000))
    const first = messages(socket, 1)
    for (let i = 0; i < 100; i++) peer.send(serverFrame(PING, String(i)))
    peer.send(serverFrame(TEXT, 'all'))
    await first
    peer.socket.resume()
    assert.equal((await peer.frame())!.opcode, 2)
    const pong = await peer.frame()
    assert.deepEqual([pong!.opcode, String(pong!.payload)], [10, '99'])
    socket.send('next')
    assert.equal(String((await peer.frame())!.payload), 'next')
  })

  it('an application that closes inside a message hears of no more messages', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const seen: unknown[] = []
    socket.onmessage = ({ data }) => {
      seen.push(data)
      socket.close()
    }
    peer.send(serverFrame(TEXT, 'one'), serverFrame(TEXT, 'two'))
    assert.equal(await peer.closeFrame(), 'empty')
    peer.send(serverFrame(TEXT, 'three'), serverFrame(8))
    const { code, wasClean } = await closed(socket)
    assert.deepEqual(seen, ['one'])
    assert.deepEqual([code, wasClean], [1005, true])
  })
})
