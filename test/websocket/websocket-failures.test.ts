import assert from 'node:assert/strict'
import { createConnection, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { type ConnectFunction, errors, type WebSocket } from '../../src/index.ts'
import {
  BINARY,
  CLOSE,
  CONTINUATION,
  closePayload,
  PING,
  serverFrame,
  TEXT,
} from '../protocol/websocket/server-frames.ts'
import { eventually, FakeClock } from '../support/fake-clock.ts'
import { closed, type RawServerOptions, record, startRawServer } from './raw-server.ts'

const NOT_FINAL = { fin: false }
const DEFLATE = { 'sec-websocket-extensions': 'permessage-deflate' }

/** `length` zeros, compressed for the wire. */
function zeros(length: number): Buffer {
  return deflateRawSync(Buffer.alloc(length), { finishFlush: 2 }).subarray(0, -4)
}

interface Row {
  readonly name: string
  readonly bytes: Buffer
  readonly sent: string
  readonly server?: RawServerOptions
  readonly error?: string
}

const compressed = { rsv: 4 }
const limited = (limits: object, headers = {}): RawServerOptions => ({
  headers,
  client: { webSocket: limits },
})

const ROWS: Row[] = [
  { name: 'an invalid opcode', bytes: serverFrame(0x3), sent: '1002 Invalid opcode received' },
  {
    name: 'a masked frame',
    bytes: serverFrame(TEXT, 'x', { masked: true }),
    sent: '1002 Frame must not be masked',
  },
  {
    name: 'RSV1 without deflate',
    bytes: serverFrame(TEXT, 'x', compressed),
    sent: '1002 Unexpected RSV bits',
  },
  {
    name: 'RSV2 with deflate',
    bytes: serverFrame(TEXT, 'x', { rsv: 2 }),
    sent: '1002 Unexpected RSV bits',
    server: { headers: DEFLATE },
  },
  {
    name: 'a fragmented control frame',
    bytes: serverFrame(PING, '', NOT_FINAL),
    sent: '1002 Control frame must not be fragmented',
  },
  {
    name: 'a long control frame',
    bytes: serverFrame(PING, 'x'.repeat(126)),
    sent: '1002 Control frame is too long',
  },
  {
    name: 'a new message inside a fragmented one',
    bytes: Buffer.concat([serverFrame(TEXT, 'a', NOT_FINAL), serverFrame(TEXT, 'b')]),
    sent: '1002 Expected a continuation frame',
  },
  {
    name: 'an unexpected continuation',
    bytes: serverFrame(CONTINUATION, 'a'),
    sent: '1002 Unexpected continuation frame',
  },
  {
    name: 'a close frame with one byte',
    bytes: serverFrame(CLOSE, 'x'),
    sent: '1002 Close frame has a 1-byte body',
  },
  {
    name: 'an invalid close code',
    bytes: serverFrame(CLOSE, closePayload(1005)),
    sent: '1002 Invalid close code',
  },
  {
    name: 'invalid UTF-8 in a text',
    bytes: serverFrame(TEXT, Buffer.from([0xff])),
    sent: '1007 Invalid UTF-8',
  },
  {
    name: 'invalid UTF-8 in a close reason',
    bytes: serverFrame(CLOSE, closePayload(1000, Buffer.from([0xff]))),
    sent: '1007 Invalid UTF-8',
  },
  {
    name: 'invalid UTF-8 in a compressed text',
    bytes: serverFrame(
      TEXT,
      deflateRawSync(Buffer.from([0xff]), { finishFlush: 2 }).subarray(0, -4),
      compressed,
    ),
    sent: '1007 Invalid UTF-8',
    server: { headers: DEFLATE },
  },
  {
    name: 'compressed data that does not inflate',
    bytes: serverFrame(TEXT, Buffer.from([0xff, 0xff, 0xff]), compressed),
    sent: '1007 Invalid compressed data',
    server: { headers: DEFLATE },
  },
  {
    name: 'compressed data without end',
    bytes: serverFrame(TEXT, Buffer.from('0300'.repeat(40), 'hex'), compressed),
    sent: '1007 Invalid compressed data',
    server: { headers: DEFLATE },
  },
  {
    name: 'a compressed frame after an impossible server_max_window_bits',
    bytes: serverFrame(TEXT, zeros(10), compressed),
    sent: '1007 Invalid server_max_window_bits',
    server: { headers: { 'sec-websocket-extensions': 'permessage-deflate; server_max_window_bits=1000' } },
  },
  {
    name: 'a length beyond 2^31 - 1',
    bytes: Buffer.from('827f0000000080000000', 'hex'),
    sent: '1009 Frame length exceeds 2^31 - 1 bytes',
  },
  {
    name: 'a length with an upper word',
    bytes: Buffer.from('827fffffffffffffffff', 'hex'),
    sent: '1009 Frame length exceeds 2^31 - 1 bytes',
  },
  {
    name: 'a message beyond maxPayloadSize',
    bytes: serverFrame(BINARY, 'x'.repeat(11)),
    sent: '1009 Payload size exceeds maximum allowed size',
    server: limited({ maxPayloadSize: 10 }),
  },
  {
    name: 'fragments beyond maxPayloadSize',
    bytes: Buffer.concat([
      serverFrame(TEXT, 'x'.repeat(6), NOT_FINAL),
      serverFrame(CONTINUATION, 'x'.repeat(5)),
    ]),
    sent: '1009 Payload size exceeds maximum allowed size',
    server: limited({ maxPayloadSize: 10 }),
  },
  {
    name: 'a compressed frame beyond maxPayloadSize',
    bytes: serverFrame(TEXT, Buffer.alloc(11), compressed),
    sent: '1009 Payload size exceeds maximum allowed size',
    server: limited({ maxPayloadSize: 10 }, DEFLATE),
  },
  {
    name: 'a message that inflates beyond maxPayloadSize',
    bytes: serverFrame(BINARY, zeros(50_000_000), compressed),
    sent: '1009 Max decompressed message size exceeded',
    server: limited({ maxPayloadSize: 100_000 }, DEFLATE),
    error: 'MessageSizeExceededError',
  },
  {
    name: 'fragments that inflate beyond maxPayloadSize',
    bytes: Buffer.concat([
      serverFrame(BINARY, zeros(2_000_000).subarray(0, 100), { ...compressed, fin: false }),
      serverFrame(CONTINUATION, zeros(2_000_000).subarray(100)),
    ]),
    sent: '1009 Max decompressed message size exceeded',
    server: limited({ maxPayloadSize: 1_000_000 }, DEFLATE),
    error: 'MessageSizeExceededError',
  },
  {
    name: 'more than maxFragments',
    bytes: Buffer.concat([
      serverFrame(TEXT, '', NOT_FINAL),
      serverFrame(CONTINUATION, '', NOT_FINAL),
      serverFrame(CONTINUATION, '', NOT_FINAL),
      serverFrame(CONTINUATION),
    ]),
    sent: '1008 Too many message fragments',
    server: limited({ maxFragments: 3 }),
  },
]

describe('a server that breaks the rules', () => {
  for (const { name, bytes, sent, server, error = 'SocketError' } of ROWS) {
    it(`${name}: ${sent}`, async (t) => {
      const raw = await startRawServer(t, server)
      const [socket, peer] = await raw.pair()
      const events = record(socket)
      const close = closed(socket)
      peer.send(serverFrame(TEXT, 'before'), bytes, serverFrame(TEXT, 'after'))
      assert.equal(await peer.closeFrame(), sent)
      await close
      assert.deepEqual(events, ['message before', `error ${error} ${sent.slice(5)}`, 'close 1006  unclean'])
      assert.equal(socket.readyState, 3)
    })
  }

  it('is let go when it does not close the connection itself', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    peer.closes = false
    const clock = FakeClock.install(t)
    const events = record(socket)
    peer.send(serverFrame(0x3))
    assert.equal(await peer.closeFrame(), '1002 Invalid opcode received')
    peer.send(serverFrame(TEXT, 'still here'))
    assert.equal(socket.readyState, 2)
    assert.deepEqual(events, [])
    await clock.advance(250)
    await eventually(() => socket.readyState === 3)
    assert.equal(events.length, 2)
  })

  it('after our close frame gets no second one', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const events = record(socket)
    const close = closed(socket)
    socket.close(3000, 'first')
    assert.equal(await peer.closeFrame(), '3000 first')
    peer.send(serverFrame(0x3))
    await close
    assert.equal(await peer.frame(), null)
    assert.deepEqual(events, ['error SocketError Invalid opcode received', 'close 1006  unclean'])
  })

  it('while a Blob is being read is told why at once', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const blob = new Blob(['never sent'])
    let release = (): void => {}
    blob.arrayBuffer = () =>
      new Promise((resolve) => {
        release = () => resolve(new ArrayBuffer(10))
      })
    socket.send(blob)
    socket.send('behind it')
    socket.close(3000)
    const close = closed(socket)
    peer.send(serverFrame(0x3))
    assert.equal(await peer.closeFrame(), '1002 Invalid opcode received')
    release()
    await close
    assert.equal(await peer.frame(), null)
  })
})

describe('a socket of the caller that throws ends the connection, and nothing is thrown at the caller', () => {
  const sendThree = (socket: WebSocket): void => {
    for (const text of ['a', 'b', 'c']) socket.send(text)
  }
  const ROWS: readonly ['write' | 'cork' | 'uncork', string, (socket: WebSocket) => void][] = [
    ['write', 'close', (socket) => socket.close(3000)],
    ['write', 'send', (socket) => socket.send('text')],
    ['cork', 'several messages in one turn', sendThree],
    ['uncork', 'several messages in one turn', sendThree],
  ]
  for (const [method, name, use] of ROWS) {
    it(`${method}: ${name}`, async (t) => {
      let given: Socket | null = null
      const connect: ConnectFunction = ({ hostname, port }, callback) => {
        given = createConnection(Number(port), hostname)
        given.once('connect', () => callback(null, given!))
      }
      const raw = await startRawServer(t, { client: { connect } })
      const [socket] = await raw.pair()
      given![method] = () => {
        throw new Error('thrown by the socket')
      }
      const close = closed(socket)
      use(socket)
      assert.equal((await close).wasClean, false)
    })
  }
})

describe('limits', () => {
  const DEFAULT = { maxFragments: 131_072, maxPayloadSize: 134_217_728 }

  it('exactly the limit is accepted, compressed too', async (t) => {
    const raw = await startRawServer(t, limited({ maxPayloadSize: 1000, maxFragments: 3 }, DEFLATE))
    const [socket, peer] = await raw.pair()
    const all: number[] = []
    const done = new Promise<void>((resolve) => {
      socket.onmessage = ({ data }) => {
        all.push((data as ArrayBuffer).byteLength)
        if (all.length === 3) resolve()
      }
    })
    peer.send(
      serverFrame(BINARY, Buffer.alloc(1000)),
      serverFrame(BINARY, zeros(1000), compressed),
      serverFrame(BINARY, Buffer.alloc(400), NOT_FINAL),
      serverFrame(CONTINUATION, '', NOT_FINAL),
      serverFrame(CONTINUATION, Buffer.alloc(600)),
    )
    await done
    assert.deepEqual(all, [1000, 1000, 1000])
  })

  it('0 disables them', async (t) => {
    const raw = await startRawServer(t, limited({ maxPayloadSize: 0, maxFragments: 0 }, DEFLATE))
    assert.deepEqual(raw.client.webSocketOptions, { maxFragments: 0, maxPayloadSize: 0 })
    const [socket, peer] = await raw.pair()
    const message = new Promise<number>((resolve) => {
      socket.onmessage = ({ data }) => resolve((data as ArrayBuffer).byteLength)
    })
    const fragments = [serverFrame(BINARY, zeros(1_000_000), { ...compressed, fin: false })]
    for (let i = 0; i < 140_000; i++) fragments.push(serverFrame(CONTINUATION, '', NOT_FINAL))
    peer.send(Buffer.concat(fragments), serverFrame(CONTINUATION, ''))
    assert.equal(await message, 1_000_000)
  })

  it('a dispatcher that knows no such option has none; by default there are some', async (t) => {
    const raw = await startRawServer(t)
    assert.deepEqual(raw.client.webSocketOptions, DEFAULT)
    const { client } = raw
    const dispatcher = { dispatch: client.dispatch.bind(client) } as unknown as typeof client
    const [socket, peer] = await raw.pair({ dispatcher })
    const message = new Promise<string>((resolve) => {
      socket.onmessage = ({ data }) => resolve(data as string)
    })
    peer.send(serverFrame(TEXT, 'hi'))
    assert.equal(await message, 'hi')
  })

  it('the error of a message that inflates too far is known by its code', async (t) => {
    const raw = await startRawServer(t, limited({ maxPayloadSize: 10 }, DEFLATE))
    const [socket, peer] = await raw.pair()
    const error = new Promise<unknown>((resolve) => {
      socket.onerror = (event) => resolve(event.error)
    })
    peer.send(serverFrame(BINARY, zeros(11), compressed))
    assert.ok((await error) instanceof errors.MessageSizeExceededError)
  })
})
