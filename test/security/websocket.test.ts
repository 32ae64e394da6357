/** A WebSocket server can neither fill the memory, nor end the process, nor inject anything into our output. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { constants, deflateRawSync } from 'node:zlib'
import { errors, ping, WebSocket, type WebSocketOptions } from '../../src/index.ts'
import {
  BINARY,
  CLOSE,
  CONTINUATION,
  closePayload,
  PING,
  PONG,
  serverFrame,
  TEXT,
} from '../protocol/websocket/server-frames.ts'
import { closed, messages, type RawServerOptions, record, startRawServer } from '../websocket/raw-server.ts'
import { LINE_BREAKS } from './hostile-text.ts'

const DEFLATE = { 'sec-websocket-extensions': 'permessage-deflate' }
const COMPRESSED = { rsv: 4 }
const PART = { fin: false }

const compressed = (bytes: Buffer): Buffer =>
  deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4)

/** The server's bytes end the connection with this close frame; the program is notified once. */
async function cutOff(
  t: TestContext,
  sent: string,
  bytes: Buffer,
  { limits, ...server }: RawServerOptions & { readonly limits?: WebSocketOptions } = {},
): Promise<void> {
  const raw = await startRawServer(
    t,
    limits === undefined ? server : { ...server, client: { webSocket: limits } },
  )
  const [socket, peer] = await raw.pair()
  const events = record(socket)
  const close = closed(socket)
  peer.send(bytes)
  assert.equal(await peer.closeFrame(), sent)
  await close
  assert.deepEqual(
    events.map((event) => event.split(' ')[0]),
    ['error', 'close'],
  )
}

describe('limits of a message', () => {
  const TOO_BIG = '1009 Payload size exceeds maximum allowed size'
  const INFLATED = '1009 Max decompressed message size exceeded'

  test('CVE-2026-1526: a small message that inflates to a large one', (t) =>
    cutOff(t, INFLATED, serverFrame(BINARY, compressed(Buffer.alloc(20_000_000)), COMPRESSED), {
      headers: DEFLATE,
      limits: { maxPayloadSize: 100_000 },
    }))

  test('CVE-2026-1526: the default limit is 128 MiB, inflated or not', async (t) => {
    const raw = await startRawServer(t)
    assert.equal(raw.client.webSocketOptions.maxPayloadSize, 134_217_728)
    await cutOff(t, TOO_BIG, Buffer.from('827f0000000008000001', 'hex'))
  })

  test('CVE-2026-9675: the limit holds for all fragments together', async (t) => {
    const limits = { maxPayloadSize: 1000 }
    const pieces = [
      serverFrame(BINARY, Buffer.alloc(600), PART),
      serverFrame(PING),
      serverFrame(CONTINUATION, Buffer.alloc(401)),
    ]
    await cutOff(t, TOO_BIG, Buffer.concat(pieces), { limits })
    const whole = compressed(Buffer.alloc(1001))
    const inflating = [
      serverFrame(BINARY, whole.subarray(0, 3), { ...COMPRESSED, ...PART }),
      serverFrame(CONTINUATION, whole.subarray(3)),
    ]
    await cutOff(t, INFLATED, Buffer.concat(inflating), { limits, headers: DEFLATE })
  })

  test('CVE-2026-12151: fragments without end, empty ones too', async (t) => {
    const many = (piece: Buffer, count: number): Buffer =>
      Buffer.concat([serverFrame(BINARY, '', PART), ...Array<Buffer>(count).fill(piece)])
    const MANY = '1008 Too many message fragments'
    await cutOff(t, MANY, many(serverFrame(CONTINUATION, '', PART), 131_072))
    await cutOff(t, MANY, many(serverFrame(CONTINUATION, 'x', PART), 10), { limits: { maxFragments: 10 } })
  })

  test('ws CVE-2026-48779, ws#2331: a message in single bytes is kept as those bytes', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const message = messages(socket, 1)
    const count = 10_000
    peer.send(
      serverFrame(BINARY, 'x', PART),
      ...Array<Buffer>(count - 2).fill(serverFrame(CONTINUATION, 'x', PART)),
      serverFrame(CONTINUATION, 'x'),
    )
    const [data] = (await message) as [ArrayBuffer]
    // Exactly as large as the message: it reveals no other memory.
    assert.equal(data.byteLength, count)
    assert.equal(Buffer.from(data).toString(), 'x'.repeat(count))
  })
})

describe('values of the peer', () => {
  test('CVE-2026-1528: lengths of 64 bits', async (t) => {
    for (const length of [
      'ffffffffffffffff',
      '8000000000000000',
      '7fffffffffffffff',
      '0020000000000001',
      '0000000080000000',
    ]) {
      await cutOff(t, '1009 Frame length exceeds 2^31 - 1 bytes', Buffer.from(`827f${length}`, 'hex'))
    }
  })

  test('CVE-2026-2229: window bits that cannot be', async (t) => {
    for (const bits of ['7', '16', '1000', '-1', '08', 'x', '']) {
      const raw = await startRawServer(t, {
        headers: { 'sec-websocket-extensions': `permessage-deflate; client_max_window_bits=${bits}` },
      })
      const socket = raw.open()
      const events = record(socket)
      await closed(socket)
      assert.match(events[0]!, /^error TypeError Invalid permessage-deflate parameters/)
      if (bits !== '') {
        await cutOff(
          t,
          '1007 Invalid server_max_window_bits',
          serverFrame(TEXT, compressed(Buffer.from('hi')), COMPRESSED),
          {
            headers: { 'sec-websocket-extensions': `permessage-deflate; server_max_window_bits=${bits}` },
          },
        )
      }
    }
  })

  test('CVE-2026-85024: data that does not inflate', async (t) => {
    const bad = [Buffer.from([0xff, 0xff, 0xff]), Buffer.from([0x07]), Buffer.from('0300'.repeat(40), 'hex')]
    for (const data of bad) {
      await cutOff(t, '1007 Invalid compressed data', serverFrame(TEXT, data, COMPRESSED), {
        headers: DEFLATE,
      })
    }
  })

  test('CVE-2026-19534: a subprotocol, or an extension, that was not asked for', async (t) => {
    const ANSWERS: readonly (readonly [Record<string, string>, string[]])[] = [
      [{ 'sec-websocket-protocol': 'chat' }, []],
      [{ 'sec-websocket-protocol': 'evil' }, ['chat']],
      [{ 'sec-websocket-protocol': 'chat, chat' }, ['chat']],
      [{ 'sec-websocket-protocol': '' }, []],
      [{ 'sec-websocket-extensions': 'evil' }, []],
      [{ 'sec-websocket-extensions': 'permessage-deflate, permessage-deflate' }, []],
      [{ 'sec-websocket-accept': 'x' }, []],
      [{ upgrade: 'h2c' }, []],
    ]
    for (const [headers, protocols] of ANSWERS) {
      const raw = await startRawServer(t, { headers })
      const socket = raw.open({ protocols })
      const events = record(socket)
      const { code, wasClean } = await closed(socket)
      assert.match(events[0]!, /^error TypeError/, JSON.stringify(headers))
      assert.deepEqual([code, wasClean, socket.protocol], [1006, false, ''])
    }
  })

  test('ws CVE-2024-37890: a handshake with fields left out, or too many of them, fails and that is all', async (t) => {
    for (const missing of ['upgrade', 'connection', 'sec-websocket-accept']) {
      const raw = await startRawServer(t, { headers: { [missing]: null } })
      const socket = raw.open()
      const events = record(socket)
      await closed(socket)
      assert.match(events[0]!, /^error TypeError/)
    }
    const raw = await startRawServer(t, {
      answer: () => `HTTP/1.1 101 Switching Protocols\r\n${'x: y\r\n'.repeat(3000)}\r\n`,
    })
    const socket = raw.open()
    const failed = new Promise<Error>((resolve) => {
      socket.onerror = ({ error }) => resolve(error as Error)
    })
    assert.ok((await failed).cause instanceof errors.HeadersOverflowError)
  })

  test('ws CVE-2021-32640: fields of the handshake are read in linear time', async (t) => {
    // With a backtracking pattern, this would not return.
    for (const name of ['sec-websocket-protocol', 'sec-websocket-extensions']) {
      const raw = await startRawServer(t, {
        answer: (_, accept) =>
          'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
          `sec-websocket-accept: ${accept}\r\n${name}: b${' '.repeat(500_000)},${';"'.repeat(100_000)}x\r\n\r\n`,
        client: { maxHeaderSize: 10_000_000 },
      })
      const socket = raw.open({ protocols: ['a'] })
      const events = record(socket)
      await closed(socket)
      assert.match(events[0]!, /^error TypeError/)
    }
  })

  test('frames that break the protocol', async (t) => {
    const BAD: readonly (readonly [Buffer, RegExp])[] = [
      [serverFrame(TEXT, 'x', { masked: true }), /^1002/],
      [serverFrame(TEXT, 'x', { rsv: 4 }), /^1002/],
      [serverFrame(0x3), /^1002/],
      [serverFrame(0xb), /^1002/],
      [serverFrame(CONTINUATION, 'x'), /^1002/],
      [serverFrame(PING, Buffer.alloc(126)), /^1002/],
      [serverFrame(PING, 'x', PART), /^1002/],
      [serverFrame(CLOSE, Buffer.from([3])), /^1002/],
      [serverFrame(CLOSE, closePayload(1005)), /^1002/],
      [serverFrame(CLOSE, closePayload(1000, Buffer.from([0xff]))), /^1007/],
      [serverFrame(TEXT, Buffer.from([0xff])), /^1007/],
      [serverFrame(TEXT, Buffer.from([0xed, 0xa0, 0x80])), /^1007/],
    ]
    const raw = await startRawServer(t)
    for (const [bytes, sent] of BAD) {
      const [socket, peer] = await raw.pair()
      const close = closed(socket)
      peer.send(bytes)
      assert.match(await peer.closeFrame(), sent)
      assert.equal((await close).code, 1006)
    }
  })
})

describe('floods of control frames', () => {
  test('PING: while the server does not read, answers do not pile up; the latest is answered', async (t) => {
    const sockets: Socket[] = []
    const keep = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket)
    subscribe('undici:client:connected', keep)
    t.after(() => unsubscribe('undici:client:connected', keep))
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    peer.socket.pause()
    // More than the system's buffers hold: 16 MB of pongs if all were answered.
    const flood = Buffer.concat(Array<Buffer>(120_000).fill(serverFrame(PING, Buffer.alloc(125))))
    const done = messages(socket, 1)
    peer.send(flood, serverFrame(PING, 'last'), serverFrame(TEXT, 'done'))
    await done
    const waiting = sockets[0]!.writableLength
    assert.ok(waiting < 1_000_000, `${waiting} bytes wait`)
    peer.socket.resume()
    let answer = await peer.frame()
    while (answer?.payload.toString() !== 'last') {
      assert.equal(answer?.opcode, PONG)
      answer = await peer.frame()
    }
    socket.close()
  })

  test('PONG that nobody asked for', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    peer.send(Buffer.concat(Array<Buffer>(50_000).fill(serverFrame(PONG, 'x'))), serverFrame(TEXT, 'done'))
    assert.deepEqual(await messages(socket, 1), ['done'])
    const close = closed(socket)
    socket.close()
    assert.equal(await peer.closeFrame(), 'empty')
    peer.send(serverFrame(CLOSE))
    await close
  })
})

describe('what we say', () => {
  test('CVE-2022-31150 and its class: protocols and headers of a handshake', () => {
    for (const text of [...LINE_BREAKS, ' ', ',', '']) {
      const protocol = text === '' ? '' : `chat${text}`
      assert.throws(() => new WebSocket('ws://127.0.0.1:1', protocol), { name: 'SyntaxError' })
      assert.throws(() => new WebSocket('ws://127.0.0.1:1', ['fine', protocol]), { name: 'SyntaxError' })
      assert.throws(
        () => new WebSocket('ws://127.0.0.1:1', [{ toString: () => protocol } as unknown as string]),
        {
          name: 'SyntaxError',
        },
      )
    }
    for (const text of LINE_BREAKS) {
      for (const headers of [
        { 'x-a': `v${text}x` },
        { [`x-a${text}`]: 'v' },
        [['x-a', `v${text}x`]],
        new Map([['x-a', `v${text}x`]]),
        { 'x-a': { toString: () => `v${text}x` } },
      ]) {
        assert.throws(
          () => new WebSocket('ws://127.0.0.1:1', { headers: headers as Record<string, string> }),
          TypeError,
        )
      }
    }
  })

  test('a caller cannot speak for the handshake', async (t) => {
    const raw = await startRawServer(t)
    const headers = {
      'Sec-WebSocket-Key': 'chosen',
      'sec-websocket-version': '8',
      'sec-websocket-extensions': 'evil',
    }
    await raw.pair({ headers })
    const { headers: sent } = raw.requests[0]!
    assert.notEqual(sent['sec-websocket-key'], 'chosen')
    assert.equal(sent['sec-websocket-version'], '13')
    assert.doesNotMatch(String(sent['sec-websocket-extensions']), /evil/)
  })

  test('ws GHSA-58qx-3vcg-4xpx: frames hold what was given and nothing else, each under a key of its own', async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const slab = Buffer.from('secret-ok-secret')
    socket.send(slab.subarray(7, 9))
    socket.send(new DataView(slab.buffer, slab.byteOffset + 7, 2))
    socket.send('ok')
    socket.send(new Blob(['ok']))
    ping(socket, Buffer.from('ok'))
    for (let i = 0; i < 5; i++) {
      const frame = await peer.frame()
      assert.deepEqual([frame?.masked, frame?.payload.toString()], [true, 'ok'])
    }
    socket.send(new Uint8Array(0))
    assert.equal((await peer.frame())?.payload.length, 0)
    assert.throws(() => ping(socket, Buffer.alloc(126)), TypeError)
    assert.throws(() => ping(socket, 100 as unknown as Buffer), TypeError)
  })
})
