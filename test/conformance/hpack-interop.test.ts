/**
 * Our encoder against the decoder of node:http2, and its encoder against our decoder, over a loopback socket with
 * handmade frames, even while both sides change the size of their tables.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import { test } from 'node:test'
import { HPACK_OK, HpackDecoder } from '../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../src/protocol/hpack/encoder.ts'

const HEADERS = 1
const SETTINGS = 4
const GOAWAY = 7
const ACK = 1
const END_STREAM_AND_HEADERS = 5
const HEADER_TABLE_SIZE = 1

interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function tableSizeSetting(size: number): Buffer {
  const payload = Buffer.alloc(6)
  payload.writeUInt16BE(HEADER_TABLE_SIZE, 0)
  payload.writeUInt32BE(size, 2)
  return payload
}

async function* framesOf(socket: net.Socket): AsyncGenerator<Frame, void> {
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 9) {
      const end = 9 + pending.readUIntBE(0, 3)
      if (pending.length < end) break
      const stream = pending.readUInt32BE(5) & 0x7fff_ffff
      yield { type: pending[3]!, flags: pending[4]!, stream, payload: pending.subarray(9, end) }
      pending = pending.subarray(end)
    }
  }
}

interface Received {
  readonly raw: readonly string[]
  readonly sensitive: readonly string[]
}

/** One connection to a node:http2 server, with the codec under test at our end. */
class Peer {
  readonly encoder: HpackEncoder = new HpackEncoder({ maxTableSize: 16384 })
  readonly decoder: HpackDecoder = new HpackDecoder({
    maxTableSize: 4096,
    maxListSize: 1 << 20,
    maxFields: 500,
  })
  /** The output of the server's decoder, in the order of the streams. */
  readonly received: Received[] = []
  readonly #server: http2.Http2Server
  readonly #sessions: http2.ServerHttp2Session[] = []
  readonly #replies: readonly (readonly string[])[]
  #socket: net.Socket | null = null
  #frames: AsyncGenerator<Frame, void> | null = null
  #nextStream = 1
  readonly #advertised: number[] = []

  /** The n-th stream is answered with the n-th of `replies`, or with an empty 200. */
  constructor(replies: readonly (readonly string[])[] = []) {
    this.#replies = replies
    this.#server = http2.createServer({ settings: { headerTableSize: 4096 } })
    this.#server.on('session', (session: http2.ServerHttp2Session) => this.#sessions.push(session))
    this.#server.on(
      'stream',
      (
        stream: http2.ServerHttp2Stream,
        headers: http2.IncomingHttpHeaders,
        _flags: number,
        raw: string[],
      ) => {
        const marked = (headers as Record<symbol, unknown>)[http2.sensitiveHeaders]
        this.received.push({ raw: [...raw], sensitive: Array.isArray(marked) ? marked : [] })
        stream.respond(toObject(this.#replies[this.received.length - 1] ?? [':status', '200']), {
          endStream: true,
        })
      },
    )
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    assert.ok(address !== null && typeof address === 'object')
    this.#socket = net.connect(address.port, '127.0.0.1')
    await once(this.#socket, 'connect')
    this.#frames = framesOf(this.#socket)
    this.#socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    this.advertise(4096)
  }

  /** Sends a SETTINGS_HEADER_TABLE_SIZE; our decoder applies it when the server acknowledges it. */
  advertise(size: number): void {
    this.#advertised.push(size)
    this.#socket!.write(frame(SETTINGS, 0, 0, tableSizeSetting(size)))
  }

  /** Lets the server lower or raise its own size; settled when our acknowledgement has arrived there. */
  async resizeServer(size: number): Promise<void> {
    const session = this.#sessions[0]!
    const settled = once(session, 'localSettings')
    session.settings({ headerTableSize: size })
    await this.#until((got) => got.type === SETTINGS && (got.flags & ACK) === 0)
    await settled
  }

  /** Sends a request and returns the fields of the response. */
  async exchange(fields: readonly string[]): Promise<string[]> {
    const out = Buffer.alloc(HpackEncoder.maxEncodedSize(fields))
    const end = this.encoder.encode(fields, out, 0)
    const id = this.#nextStream
    this.#nextStream += 2
    this.#socket!.write(frame(HEADERS, END_STREAM_AND_HEADERS, id, out.subarray(0, end)))
    const { payload } = await this.#until((got) => got.type === HEADERS && got.stream === id)
    const decoded: string[] = []
    assert.equal(this.decoder.decode(payload, 0, payload.length, decoded), HPACK_OK, this.decoder.message)
    return decoded
  }

  async close(): Promise<void> {
    this.#socket?.destroy()
    for (const session of this.#sessions) session.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Reads frames up to the wanted one and responds to the others. */
  async #until(wanted: (got: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const { value: got, done } = await this.#frames!.next()
      assert.ok(done !== true && got !== undefined, 'the server closed the connection')
      assert.notEqual(got.type, GOAWAY, `GOAWAY ${got.type === GOAWAY ? got.payload.readUInt32BE(4) : ''}`)
      if (got.type === SETTINGS && (got.flags & ACK) !== 0) {
        this.decoder.setMaxTableSize(this.#advertised.shift()!)
      } else if (got.type === SETTINGS) {
        for (let at = 0; at < got.payload.length; at += 6) {
          if (got.payload.readUInt16BE(at) === HEADER_TABLE_SIZE) {
            this.encoder.setMaxTableSize(got.payload.readUInt32BE(at + 2))
          }
        }
        this.#socket!.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)))
      }
      if (wanted(got)) return got
    }
  }
}

function toObject(flat: readonly string[]): http2.OutgoingHttpHeaders {
  const object: Record<string, string> = {}
  for (let i = 0; i < flat.length; i += 2) object[flat[i]!] = flat[i + 1]!
  return object
}

function request(path: string, ...more: string[]): string[] {
  return [
    ...[':method', 'GET', ':scheme', 'http', ':authority', 'localhost', ':path', path],
    ...['user-agent', 'ventuno/1 (test)', 'accept', 'application/json', ...more],
  ]
}

function requests(): string[][] {
  return [
    request('/'),
    request('/a?b=c', 'x-one', '1'),
    request('/a?b=c', 'x-one', '1', 'x-two', 'w'.repeat(300)),
    request('/a?b=c', 'x-one', '1', 'x-two', 'w'.repeat(300)),
    request('/p', 'cookie', 'a=1; b=2', 'authorization', 'Basic eDp5', 'if-none-match', '"abc"'),
    request('/p', 'cookie', 'a=1; b=2', 'authorization', 'Basic eDp5', 'if-none-match', '"abc"'),
    request('/p', 'cookie', 'a=1; b=2', 'authorization', 'Basic eDp5', 'if-none-match', '"abc"'),
    request(
      '/q',
      'x-latin',
      'gr\u00fc\u00df dich \u00a0\u00ff',
      'x-signs',
      `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`,
    ),
    ...Array.from({ length: 40 }, (_, i) =>
      request(`/n/${i % 7}`, `x-n${i % 11}`, `value-${i}`.repeat(1 + (i % 9))),
    ),
  ]
}

test('node:http2 reads what our encoder writes', async () => {
  const peer = new Peer()
  await peer.open()
  try {
    const lists = requests()
    for (const list of lists) await peer.exchange(list)
    assert.deepEqual(
      peer.received.map((got) => got.raw),
      lists,
    )
  } finally {
    await peer.close()
  }
})

test('node:http2 reads what our encoder writes while its table changes', async () => {
  const peer = new Peer()
  await peer.open()
  try {
    const lists = requests()
    const sizes = [0, 4096, 100, 16384, 65536, 8192, 1, 512]
    for (const [i, list] of lists.entries()) {
      if (i > 0 && i % 4 === 0) await peer.resizeServer(sizes[(i / 4 - 1) % sizes.length]!)
      // Two changes between two blocks: the smallest and the last must both be announced.
      if (i === 30) {
        await peer.resizeServer(0)
        await peer.resizeServer(4096)
      }
      await peer.exchange(list)
    }
    assert.deepEqual(
      peer.received.map((got) => got.raw),
      lists,
    )
  } finally {
    await peer.close()
  }
})

test('node:http2 sees the never-indexed mark on credentials, and on nothing else', async () => {
  const peer = new Peer()
  await peer.open()
  try {
    const list = request('/', 'authorization', 'Basic eDp5', 'x-key', 'k', 'x-open', 'o')
    for (let i = 0; i < 3; i++) await peer.exchange(list)
    assert.deepEqual(
      peer.received.map((got) => got.sensitive),
      [1, 2, 3].map(() => ['authorization']),
    )
  } finally {
    await peer.close()
  }
})

function replies(): string[][] {
  const date = ['date', 'Mon, 21 Oct 2013 20:13:21 GMT']
  return [
    [':status', '200', ...date],
    [':status', '404', ...date, 'content-type', 'text/html; charset=utf-8', 'server', 'x'],
    [':status', '404', ...date, 'content-type', 'text/html; charset=utf-8', 'server', 'x'],
    [':status', '200', ...date, 'x-latin', 'gr\u00fc\u00df', 'x-long', 'l'.repeat(3000)],
    ...Array.from({ length: 40 }, (_, i) => [
      ...[':status', '200', ...date, `x-n${i % 11}`, `value-${i % 13}`.repeat(1 + (i % 9))],
      ...['etag', `"${i}"`, 'cache-control', 'no-store'],
    ]),
  ]
}

test('our decoder reads what node:http2 writes', async () => {
  const expected = replies()
  const peer = new Peer(expected)
  await peer.open()
  try {
    for (const reply of expected) assert.deepEqual(await peer.exchange(request('/')), reply)
  } finally {
    await peer.close()
  }
})

test('our decoder reads what node:http2 writes while our table changes', async () => {
  const expected = replies()
  const peer = new Peer(expected)
  await peer.open()
  try {
    const sizes = [0, 4096, 100, 2048, 1, 512]
    for (const [i, reply] of expected.entries()) {
      if (i % 3 === 2) peer.advertise(sizes[((i - 2) / 3) % sizes.length]!)
      if (i === 20) {
        peer.advertise(0)
        peer.advertise(4096)
      }
      assert.deepEqual(await peer.exchange(request('/')), reply)
    }
  } finally {
    await peer.close()
  }
})
