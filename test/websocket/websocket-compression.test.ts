import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { constants, createDeflateRaw, type DeflateRaw, inflateRawSync } from 'node:zlib'
import { MessageDeflater } from '../../src/websocket/message-deflater.ts'
import { type InflateOutcome, MessageInflater } from '../../src/websocket/message-inflater.ts'
import {
  CLOSE,
  CONTINUATION,
  closePayload,
  PING,
  serverFrame,
  TEXT,
} from '../protocol/websocket/server-frames.ts'
import {
  closed,
  messages,
  type RawPeer,
  type RawServerOptions,
  record,
  startRawServer,
} from './raw-server.ts'

const COMPRESSED = { rsv: 4 }
const agree = (parameters = ''): RawServerOptions => ({
  headers: { 'sec-websocket-extensions': `permessage-deflate${parameters}` },
})

/** A server's compressor. */
class Compressor {
  readonly #stream: DeflateRaw = createDeflateRaw({ flush: constants.Z_SYNC_FLUSH })

  compress(text: string): Promise<Buffer> {
    const parts: Buffer[] = []
    const onData = (part: Buffer): void => void parts.push(part)
    this.#stream.on('data', onData)
    return new Promise((resolve) => {
      this.#stream.write(text, () => {
        this.#stream.off('data', onData)
        resolve(Buffer.concat(parts).subarray(0, -4))
      })
    })
  }
}

const TAIL = Buffer.from([0, 0, 0xff, 0xff])

async function inflatedFrame(
  peer: RawPeer,
  dictionary?: Buffer,
): Promise<{ rsv: number; text: Buffer; wire: number }> {
  const { rsv, payload } = (await peer.frame())!
  const options = { finishFlush: constants.Z_SYNC_FLUSH, ...(dictionary ? { dictionary } : {}) }
  const text = rsv === 4 ? inflateRawSync(Buffer.concat([payload, TAIL]), options) : payload
  return { rsv, text, wire: payload.length }
}

describe('compressed messages of the server', () => {
  it('RFC 7692 §7.2.3: the examples', async (t) => {
    const raw = await startRawServer(t, agree())
    const [socket, peer] = await raw.pair()
    const received = messages(socket, 5)
    const hex = (text: string): Buffer => Buffer.from(text, 'hex')
    peer.send(
      hex('c107f248cdc9c90700'),
      // In two fragments, with a ping between them.
      hex('4103f248cd'),
      serverFrame(PING),
      hex('8004c9c90700'),
      // The same again, with the previous window.
      hex('c105f200110000'),
      // A block without compression.
      hex('c10b000500faff48656c6c6f00'),
      // A final block.
      hex('c108f348cdc9c9070000'),
    )
    assert.deepEqual(await received, ['Hello', 'Hello', 'Hello', 'Hello', 'Hello'])
  })

  it('with context takeover, without, and plain ones between', async (t) => {
    for (const parameters of ['', '; server_no_context_takeover']) {
      const raw = await startRawServer(t, agree(parameters))
      const [socket, peer] = await raw.pair()
      const texts = Array.from({ length: 20 }, (_, i) => `message ${i} `.repeat(100 * i + 1))
      const received = messages(socket, texts.length)
      let compressor = new Compressor()
      for (const [i, text] of texts.entries()) {
        if (parameters !== '') compressor = new Compressor()
        if (i % 3 === 2) peer.send(serverFrame(TEXT, text))
        else peer.send(serverFrame(TEXT, await compressor.compress(text), COMPRESSED))
      }
      assert.deepEqual(await received, texts)
    }
  })

  it('of a megabyte, in fragments and pieces, with the close frame right behind', async (t) => {
    const raw = await startRawServer(t, agree('; server_max_window_bits=15'))
    const [socket, peer] = await raw.pair()
    const events = record(socket)
    const close = closed(socket)
    const received = messages(socket, 2)
    const text = randomBytes(500_000).toString('hex')
    const compressed = await new Compressor().compress(text)
    const frames = [serverFrame(TEXT, compressed.subarray(0, 1000), { ...COMPRESSED, fin: false })]
    for (let at = 1000; at < compressed.length; at += 50_000) {
      frames.push(serverFrame(CONTINUATION, compressed.subarray(at, at + 50_000), { fin: false }))
    }
    frames.push(serverFrame(CONTINUATION), serverFrame(TEXT, 'plain'), serverFrame(CLOSE, closePayload(1001)))
    peer.send(...frames)
    peer.socket.end()
    assert.ok((await received)[0] === text)
    await close
    assert.equal(events.at(-2), 'message plain')
    assert.equal(events.at(-1), 'close 1001  clean')
  })

  it('that were read before the connection was lost are delivered', async (t) => {
    const raw = await startRawServer(t, agree())
    const [socket, peer] = await raw.pair()
    const events = record(socket)
    const close = closed(socket)
    const text = 'x'.repeat(2_000_000)
    const compressed = await new Compressor().compress(text)
    socket.addEventListener('message', () => peer.socket.destroy(), { once: true })
    peer.send(serverFrame(TEXT, 'now'), serverFrame(TEXT, compressed, COMPRESSED), serverFrame(TEXT, 'last'))
    await close
    assert.deepEqual(
      events.map((event) => event.slice(0, 14)),
      [
        'message now',
        `message ${text}`.slice(0, 14),
        'message last',
        events[3]!.slice(0, 14),
        'close 1006  un',
      ],
    )
  })
})

describe('our messages', () => {
  it('are compressed when that is worth it', async (t) => {
    const raw = await startRawServer(t, agree())
    const [socket, peer] = await raw.pair()
    socket.send('x'.repeat(1023))
    socket.send('x'.repeat(1024))
    socket.send(new Uint8Array(5000))
    const noise = randomBytes(5000)
    socket.send(noise)
    assert.equal((await inflatedFrame(peer)).rsv, 0)
    const text = await inflatedFrame(peer)
    assert.deepEqual([text.rsv, String(text.text)], [4, 'x'.repeat(1024)])
    assert.ok(text.wire < 50)
    const zeros = await inflatedFrame(peer, text.text)
    assert.deepEqual([zeros.rsv, zeros.text.equals(Buffer.alloc(5000))], [4, true])
    const plain = await inflatedFrame(peer)
    assert.deepEqual([plain.rsv, plain.text.equals(noise)], [0, true])
  })

  it('may refer to earlier ones, unless the server forbids', async (t) => {
    const text = randomBytes(1000).toString('hex')
    for (const [parameters, shorter] of [
      ['', true],
      ['; client_no_context_takeover', false],
    ] as const) {
      const raw = await startRawServer(t, agree(parameters))
      const [socket, peer] = await raw.pair()
      socket.send(text)
      socket.send(text)
      const first = await inflatedFrame(peer)
      const second = await inflatedFrame(peer, shorter ? Buffer.from(text) : undefined)
      assert.equal(String(second.text), text)
      assert.equal(second.wire < first.wire / 10, shorter)
    }
  })

  it('stay within the window the server can have', async (t) => {
    const raw = await startRawServer(t, agree('; client_max_window_bits=9'))
    const [socket, peer] = await raw.pair()
    const text = randomBytes(600).toString('hex').repeat(2)
    socket.send(text)
    const { payload } = (await peer.frame())!
    const small = inflateRawSync(Buffer.concat([payload, TAIL]), {
      windowBits: 9,
      finishFlush: constants.Z_SYNC_FLUSH,
    })
    assert.equal(String(small), text)
  })

  it('are not compressed for a window that zlib cannot make', async (t) => {
    const raw = await startRawServer(t, agree('; client_max_window_bits=8'))
    const [socket, peer] = await raw.pair()
    socket.send('x'.repeat(10_000))
    assert.equal((await peer.frame())!.rsv, 0)
  })

  it('keep their order with what needs no compressing', async (t) => {
    const raw = await startRawServer(t, agree())
    const [socket, peer] = await raw.pair()
    const long = 'long '.repeat(1000)
    const bytes = new Uint8Array([1])
    socket.send(long)
    socket.send('short')
    socket.send(bytes)
    bytes[0] = 2
    socket.send(new Blob([long]))
    socket.close(3000, 'end')
    const opcodes: string[] = []
    for (let i = 0; i < 5; i++) {
      const { opcode, rsv, payload } = (await peer.frame())!
      opcodes.push(`${opcode} ${rsv} ${payload.length < 10 ? payload.toString('hex') : ''}`)
    }
    assert.deepEqual(opcodes, [
      '1 4 ',
      `1 0 ${Buffer.from('short').toString('hex')}`,
      '2 0 01',
      '2 4 ',
      '8 0 0bb8656e64',
    ])
  })
})

const parameters = {
  serverWindowBits: 15,
  serverNoContextTakeover: false,
  clientWindowBits: 15,
  clientNoContextTakeover: false,
}

describe('MessageDeflater', () => {
  const deflate = (deflater: MessageDeflater, bytes: Uint8Array): Promise<Buffer | null> =>
    new Promise((resolve, reject) => {
      deflater.deflate(bytes, (error, deflated) => {
        if (error) reject(error)
        else resolve(deflated)
      })
    })

  it('rests longer and longer after messages that do not get smaller', async () => {
    const deflater = new MessageDeflater(parameters)
    const rests: number[] = []
    for (let round = 0; round < 8; round++) {
      assert.equal(await deflate(deflater, randomBytes(1024)), null)
      let rest = 0
      while (!deflater.wants(1024)) rest++
      rests.push(rest)
    }
    assert.deepEqual(rests, [1, 2, 4, 8, 16, 32, 64, 64])
    assert.notEqual(await deflate(deflater, Buffer.alloc(1024)), null)
    assert.equal(await deflate(deflater, randomBytes(1024)), null)
    assert.equal(deflater.wants(1024), false)
    assert.equal(deflater.wants(1024), true)
    deflater.close()
  })

  it('a message after one that was not sent compressed refers only to what was', async () => {
    const deflater = new MessageDeflater(parameters)
    const noise = randomBytes(2000)
    assert.equal(await deflate(deflater, noise), null)
    const next = await deflate(deflater, Buffer.concat([Buffer.alloc(3000), noise]))
    const inflated = inflateRawSync(Buffer.concat([next!, TAIL]), { finishFlush: constants.Z_SYNC_FLUSH })
    assert.ok(inflated.subarray(3000).equals(noise))
    deflater.close()
  })

  it('compresses what takes more than one step', async () => {
    const deflater = new MessageDeflater(parameters)
    const text = Buffer.from(randomBytes(200_000).toString('hex'))
    const result = await deflate(deflater, text)
    assert.ok(inflateRawSync(Buffer.concat([result!, TAIL]), { finishFlush: 2 }).equals(text))
    deflater.close()
  })
})

describe('MessageInflater', () => {
  it('says stop before a small message has become a large one', async () => {
    const bomb = (await new Compressor().compress('\0'.repeat(20_000_000))) as Buffer
    let taken = 0
    let most = 0
    const inflater = new MessageInflater(parameters, (chunk) => {
      taken += chunk.length
      most = Math.max(most, chunk.length)
      return taken <= 100_000
    })
    const outcome = await new Promise<InflateOutcome>((resolve) => inflater.write(bomb, true, resolve))
    assert.equal(outcome, 'stopped')
    assert.ok(most <= 32 * 1024)
    assert.ok(taken <= 100_000 + 32 * 1024)
  })

  it('is silent after it was closed', async () => {
    const inflater = new MessageInflater(parameters, () => true)
    const data = await new Compressor().compress('x')
    const outcome = new Promise<InflateOutcome>((resolve) => inflater.write(data, true, resolve))
    inflater.close()
    assert.notEqual(await outcome, 'done')
  })
})
