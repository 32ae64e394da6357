/** An HTTP/2 server that causes endless work is cut off at a known limit, and the error names it. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, describe, mock, type TestContext, test } from 'node:test'
import { type Client, type ClientOptions, errors } from '../../src/index.ts'
import {
  COMPRESSION_ERROR,
  CONTINUATION,
  DATA,
  ENHANCE_YOUR_CALM,
  FLAG_ACK,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  FLAG_PADDED,
  FLOW_CONTROL_ERROR,
  FRAME_SIZE_ERROR,
  GOAWAY,
  HEADERS,
  PING,
  PRIORITY,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  SETTINGS_ENABLE_PUSH,
  SETTINGS_INITIAL_WINDOW_SIZE,
  WINDOW_UPDATE,
} from '../../src/protocol/http2/constants.ts'
import {
  MAX_EMPTY_FRAMES,
  MAX_HEADER_FIELDS,
  MAX_HEADER_FRAMES,
  MAX_IDLE_WINDOW_UPDATES,
  MAX_IGNORED_FRAMES,
  MAX_INTERIM_RESPONSES,
  MAX_PINGS,
  MAX_PROVOKED_RESETS,
  MAX_SETTINGS,
  MAX_SETTINGS_ENTRIES,
  SEND_HIGH_WATER,
} from '../../src/protocol/http2/limits.ts'
import { FramePeer, frameBytes, settingsPayload, uint32 } from '../support/frame-peer.ts'
import { type H2Peer, startH2Pair } from '../support/h2-server.ts'

const EMPTY = Buffer.alloc(0)
const ALTSVC = 10
const ORIGIN = 12
const UNKNOWN = 200
/** Bytes that arrive and are read at once. */
const SHORT = 4096

const get = (client: Client): Promise<string> =>
  client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())

/** A frame repeated, in one piece. */
const repeated = (count: number, frame: Buffer): Buffer => Buffer.concat(Array<Buffer>(count).fill(frame))

interface Attack {
  /** The server's bytes while a request waits for its response. */
  readonly says: (id: number, peer: H2Peer) => Buffer
  /** The code of our GOAWAY, and of the failure. */
  readonly code: number
  readonly message?: RegExp
  readonly options?: ClientOptions
}

/** Budgets apply per span of time: on a slow machine a flood would need more than one. */
before(() => mock.method(performance, 'now', () => 1000))
after(() => mock.restoreAll())

/** The attack costs the connection and its request, both sides get the reason, and later requests are unharmed. */
async function costsTheConnection(t: TestContext, { says, code, message, options }: Attack): Promise<void> {
  const { client, server } = await startH2Pair(t, options)
  const asked = get(client)
  const failed = assert.rejects(asked, (error: Error) => {
    assert.ok(error instanceof errors.SocketError, String(error))
    assert.equal((error.cause as { code?: unknown }).code, code)
    if (message !== undefined) assert.match(error.message, message)
    return true
  })
  const peer = await server.accept()
  const { id } = await peer.request()
  const bytes = says(id, peer)
  peer.socket.write(bytes)
  await failed
  // If the client does not read everything, a reset of the transport may overtake it.
  if (bytes.length < SHORT) {
    assert.equal((await peer.frame(GOAWAY)).payload.readUInt32BE(4), code)
  }
  await peer.closed()
  assert.equal(client.stats.running, 0)

  const honest = get(client)
  const other = await server.accept()
  other.respond((await other.request()).id)
  assert.equal(await honest, 'ok')
}

/** The attack fails only its own request; the connection continues. */
async function costsTheStream(
  t: TestContext,
  error: object,
  says: (id: number, peer: H2Peer) => void,
  options: ClientOptions = {},
): Promise<void> {
  const { client, server } = await startH2Pair(t, options)
  const [attacked, beside] = [get(client), get(client)]
  const failed = assert.rejects(attacked, error as Error)
  const peer = await server.accept()
  const [first, second] = await peer.take(2)
  says(first!.id, peer)
  await failed
  peer.respond(second!.id)
  assert.equal(await beside, 'ok')
  const last = get(client)
  peer.respond((await peer.request()).id)
  assert.equal(await last, 'ok')
  assert.equal(server.count, 1)
}

describe('floods of frames', () => {
  test('CVE-2019-9512: PING', (t) =>
    costsTheConnection(t, {
      says: () => repeated(MAX_PINGS + 1, frameBytes(PING, 0, 0, Buffer.alloc(8))),
      code: ENHANCE_YOUR_CALM,
      message: /more than 50000 PING frames within 10 s/,
    }))

  test('CVE-2019-9512: answers to a PING that nobody sent', (t) =>
    costsTheConnection(t, {
      says: () => repeated(MAX_PINGS + 1, frameBytes(PING, FLAG_ACK, 0, Buffer.alloc(8))),
      code: ENHANCE_YOUR_CALM,
    }))

  test('CVE-2019-9515: SETTINGS', (t) =>
    costsTheConnection(t, {
      says: () => repeated(MAX_SETTINGS + 1, frameBytes(SETTINGS, 0, 0, EMPTY)),
      code: ENHANCE_YOUR_CALM,
      message: /SETTINGS and GOAWAY frames/,
    }))

  test('CVE-2020-11080: one giant SETTINGS', (t) =>
    costsTheConnection(t, {
      says: () => {
        const entries = Array.from({ length: MAX_SETTINGS_ENTRIES + 1 }, () => [99, 1] as const)
        return frameBytes(SETTINGS, 0, 0, settingsPayload(entries))
      },
      code: ENHANCE_YOUR_CALM,
    }))

  test('CVE-2019-9513: PRIORITY', (t) =>
    costsTheConnection(t, {
      says: (id) => repeated(MAX_IGNORED_FRAMES + 1, frameBytes(PRIORITY, 0, id, Buffer.alloc(5))),
      code: ENHANCE_YOUR_CALM,
      message: /ignored frames/,
    }))

  test('CVE-2026-48619: ORIGIN and ALTSVC, which are never kept', async (t) => {
    for (const type of [ORIGIN, ALTSVC]) {
      const entry = frameBytes(type, 0, 0, Buffer.from('\0\x10https://evil.tes'))
      await costsTheConnection(t, {
        says: () => repeated(MAX_IGNORED_FRAMES + 1, entry),
        code: ENHANCE_YOUR_CALM,
        message: /ignored frames/,
      })
    }
  })

  test('frames of unknown types', (t) =>
    costsTheConnection(t, {
      says: (id) => repeated(MAX_IGNORED_FRAMES + 1, frameBytes(UNKNOWN, 0xff, id, Buffer.from('x'))),
      code: ENHANCE_YOUR_CALM,
      message: /ignored frames/,
    }))

  test('CVE-2019-9518: empty DATA', (t) =>
    costsTheConnection(t, {
      says: (id, peer) => {
        peer.head(id, 200)
        return repeated(MAX_EMPTY_FRAMES + 1, frameBytes(DATA, 0, id, EMPTY))
      },
      code: ENHANCE_YOUR_CALM,
      message: /empty frames/,
    }))

  test('CVE-2019-9518: DATA that is only padding', (t) =>
    costsTheConnection(t, {
      says: (id, peer) => {
        peer.head(id, 200)
        return repeated(MAX_EMPTY_FRAMES + 1, frameBytes(DATA, FLAG_PADDED, id, Buffer.from([0])))
      },
      code: ENHANCE_YOUR_CALM,
    }))

  test('CVE-2019-9511, CVE-2019-9517: WINDOW_UPDATE without progress', (t) =>
    costsTheConnection(t, {
      says: () => repeated(MAX_IDLE_WINDOW_UPDATES + 1, frameBytes(WINDOW_UPDATE, 0, 0, uint32(1))),
      code: ENHANCE_YOUR_CALM,
      message: /WINDOW_UPDATE frames without progress/,
    }))

  test('CVE-2025-8671, MadeYouReset: streams that the server makes us reset', async (t) => {
    const { client, server } = await startH2Pair(t)
    // 0x83 is `:method: POST`, which no response has.
    const answer = (id: number): Buffer => frameBytes(HEADERS, FLAG_END_HEADERS, id, Buffer.from([0x83]))
    let alone = 0
    const others = new Set<unknown>()
    const ask = (): Promise<unknown> =>
      get(client).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_HTTP2_STREAM_ERROR') alone++
        else others.add(/more than \d+ stream errors caused by the peer/.exec(error.message)?.[0])
      })
    const serve = async (peer: H2Peer, respond: (id: number) => void): Promise<void> => {
      try {
        for (;;) respond((await peer.request()).id)
      } catch {
        // The client has closed.
      }
    }
    const first = ask()
    const peer = await server.accept()
    let over = false
    const ended = serve(peer, (id) => peer.socket.write(answer(id))).then(() => {
      over = true
    })
    // Requests that were not sent before the end go to a new connection.
    void server.accept().then((other) => serve(other, (id) => other.respond(id)))
    await first
    while (!over) await Promise.all(Array.from({ length: 100 }, ask))
    await ended
    assert.deepEqual([...others], [`more than ${MAX_PROVOKED_RESETS} stream errors caused by the peer`])
    assert.ok(alone >= MAX_PROVOKED_RESETS, `${alone} failed alone`)
  })

  test('CVE-2019-9514, CVE-2023-44487: each stream that the server resets fails its own request, once', async (t) => {
    const { client, server } = await startH2Pair(t)
    const asked = Array.from({ length: 100 }, () =>
      assert.rejects(get(client), { code: 'ERR_HTTP2_STREAM_ERROR' }),
    )
    const peer = await server.accept()
    const requests = await peer.take(100)
    peer.together(() => {
      // Twice each: the second finds a closed stream.
      for (const { id } of [...requests, ...requests]) peer.reset(id, PROTOCOL_ERROR)
    })
    await Promise.all(asked)
    const last = get(client)
    peer.respond((await peer.request()).id)
    assert.equal(await last, 'ok')
    assert.equal(server.count, 1)
  })

  test('CVE-2019-9514, CVE-2023-44487: resets without end are counted', () => {
    const peer = FramePeer.ready({ abuse: { peerResets: 10 } })
    for (let i = 0; i <= 10; i++) peer.sendReset(peer.request().id, PROTOCOL_ERROR)
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /more than 10 streams reset by the peer/)
  })

  test('DATA on streams that we have given up is not delivered, and its room goes back to the connection', async (t) => {
    const { client, server } = await startH2Pair(t)
    const controller = new AbortController()
    const { signal } = controller
    const aborted = assert.rejects(client.request({ path: '/', method: 'GET', signal }), {
      name: 'AbortError',
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    controller.abort()
    await aborted
    await peer.resetOf(id)
    peer.head(id, 200)
    for (let sent = 0; sent < 524_288; sent += 16_384) peer.data(id, Buffer.alloc(16_384))
    peer.data(id, '', true)
    const next = get(client)
    const { id: other } = await peer.request()
    await peer.settled()
    assert.ok(peer.pending(WINDOW_UPDATE, 0).length > 0)
    peer.respond(other)
    assert.equal(await next, 'ok')
  })
})

describe('header blocks', () => {
  test('CONTINUATION flood, CVE-2024-27316, CVE-2024-24549, CVE-2024-2653, CVE-2024-27983, CVE-2023-45288, CVE-2024-28182: by frames', (t) =>
    costsTheConnection(t, {
      says: (id) =>
        Buffer.concat([
          frameBytes(HEADERS, 0, id, Buffer.from([0x88])),
          // 0x90 0x00: a field of the static table.
          repeated(MAX_HEADER_FRAMES, frameBytes(CONTINUATION, 0, id, Buffer.from([0x90]))),
        ]),
      code: ENHANCE_YOUR_CALM,
    }))

  test('CONTINUATION flood, the same rows: by bytes, Huffman coded', (t) =>
    costsTheConnection(t, {
      says: (id) => {
        // A literal without index whose value is 16 000 octets of Huffman code: `0` is 00000.
        const value = Buffer.alloc(16_000)
        const field = Buffer.concat([Buffer.from([0x00, 0x01, 0x78, 0xff, 0x81, 0x7c]), value])
        return Buffer.concat([
          frameBytes(HEADERS, 0, id, Buffer.from([0x88])),
          repeated(64, frameBytes(CONTINUATION, 0, id, field)),
        ])
      },
      code: ENHANCE_YOUR_CALM,
    }))

  test('CVE-2019-9518: empty CONTINUATION', (t) =>
    costsTheConnection(t, {
      says: (id) =>
        Buffer.concat([
          frameBytes(HEADERS, 0, id, Buffer.from([0x88])),
          repeated(MAX_HEADER_FRAMES, frameBytes(CONTINUATION, 0, id, EMPTY)),
        ]),
      code: ENHANCE_YOUR_CALM,
    }))

  test('CVE-2016-6581: HPACK bomb, a large entry referred to again and again', (t) =>
    costsTheStream(t, errors.HeadersOverflowError, (id, peer) => {
      const value = Buffer.alloc(3000, 'a')
      const entry = Buffer.concat([Buffer.from([0x40, 0x01, 0x78, 0x7f, 0xb9, 0x16]), value])
      const block = Buffer.concat([Buffer.from([0x88]), entry, Buffer.alloc(10_000, 0xbe)])
      peer.send(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, id, block)
    }))

  test('CVE-2019-9516, CVE-2026-49975, CVE-2026-47774: very many very small fields', async (t) => {
    // `accept-ranges` of the static table: one byte on the wire.
    const block = Buffer.alloc(MAX_HEADER_FIELDS + 1, 0x92)
    block[0] = 0x88
    await costsTheStream(
      t,
      errors.HeadersOverflowError,
      (id, peer) => peer.send(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, id, block),
      { maxHeaderSize: 1_000_000 },
    )
    await costsTheStream(t, { code: 'ERR_HTTP2_STREAM_ERROR' }, (id, peer) => {
      // Without a name: each would cost memory and count nothing.
      const nameless = Buffer.from([0x88, 0x00, 0x00, 0x00])
      peer.send(HEADERS, FLAG_END_HEADERS | FLAG_END_STREAM, id, nameless)
    })
  })

  test('a head above maxHeaderSize, in fields that are each small', (t) =>
    costsTheStream(t, errors.HeadersOverflowError, (id, peer) => {
      const fields = Array.from({ length: 200 }, (_, i) => [`x-${i}`, 'a'.repeat(100)]).flat()
      peer.head(id, 200, fields, true)
    }))

  test('1xx flood, endless trailers', async (t) => {
    await costsTheStream(t, Error, (id, peer) => {
      peer.together(() => {
        for (let i = 0; i <= MAX_INTERIM_RESPONSES; i++) peer.head(id, 103, ['link', '</a>'])
      })
    })
    await costsTheStream(t, errors.HeadersOverflowError, (id, peer) => {
      peer
        .head(id, 200)
        .data(id, 'ok')
        .headers(id, ['x-a', 'a'.repeat(20_000)], true)
    })
  })

  test('CVE-2025-59465: malformed HEADERS neither throw nor leak', async (t) => {
    const BAD: readonly (readonly [Buffer, number, number])[] = [
      // A missing index, an endless integer, invalid Huffman padding, a table update that is too large.
      [Buffer.from([0xff, 0x80, 0x80, 0x01]), FLAG_END_HEADERS, COMPRESSION_ERROR],
      [
        Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        FLAG_END_HEADERS,
        COMPRESSION_ERROR,
      ],
      [Buffer.from([0x00, 0x81, 0x00, 0x00]), FLAG_END_HEADERS, COMPRESSION_ERROR],
      [Buffer.from([0x3f, 0xe1, 0xff, 0x03]), FLAG_END_HEADERS, COMPRESSION_ERROR],
      [Buffer.from([0x00, 0x05, 0x61]), FLAG_END_HEADERS, COMPRESSION_ERROR],
      // Padding longer than the frame.
      [Buffer.from([0xff, 0x88]), FLAG_END_HEADERS | FLAG_PADDED, PROTOCOL_ERROR],
    ]
    for (const [block, flags, code] of BAD) {
      await costsTheConnection(t, { says: (id) => frameBytes(HEADERS, flags, id, block), code })
    }
  })
})

describe('the rules of the protocol', () => {
  test('CVE-2026-21714: WINDOW_UPDATE beyond 2^31-1 on the connection ends it altogether', (t) =>
    costsTheConnection(t, {
      says: () => frameBytes(WINDOW_UPDATE, 0, 0, uint32(0x7fff_ffff)),
      code: FLOW_CONTROL_ERROR,
    }))

  test('CVE-2024-2398: PUSH_PROMISE is forbidden and ends the connection', async (t) => {
    await costsTheConnection(t, {
      says: (id) =>
        frameBytes(PUSH_PROMISE, FLAG_END_HEADERS, id, Buffer.concat([uint32(2), Buffer.from([0x82])])),
      code: PROTOCOL_ERROR,
    })
    const { client, server } = await startH2Pair(t)
    const asked = get(client)
    const peer = await server.accept()
    const { payload } = await peer.frame(SETTINGS)
    const settings = new Map<number, number>()
    for (let at = 0; at < payload.length; at += 6)
      settings.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    assert.equal(settings.get(SETTINGS_ENABLE_PUSH), 0)
    peer.respond((await peer.request()).id)
    await asked
  })

  test('CVE-2026-48937: frames that break the protocol end the connection and leave nothing behind', async (t) => {
    const BAD: readonly (readonly [string, (id: number) => Buffer, number])[] = [
      ['a frame too large', (id) => frameBytes(DATA, 0, id, Buffer.alloc(16_385)), FRAME_SIZE_ERROR],
      ['DATA on stream 0', () => frameBytes(DATA, 0, 0, EMPTY), PROTOCOL_ERROR],
      [
        'HEADERS on a stream of the server',
        () => frameBytes(HEADERS, FLAG_END_HEADERS, 2, Buffer.from([0x88])),
        PROTOCOL_ERROR,
      ],
      [
        'a reset of a stream that is not there',
        () => frameBytes(RST_STREAM, 0, 99, uint32(0)),
        PROTOCOL_ERROR,
      ],
      ['a reset of the wrong size', (id) => frameBytes(RST_STREAM, 0, id, Buffer.alloc(3)), FRAME_SIZE_ERROR],
      ['PING of the wrong size', () => frameBytes(PING, 0, 0, Buffer.alloc(7)), FRAME_SIZE_ERROR],
      ['SETTINGS of the wrong size', () => frameBytes(SETTINGS, 0, 0, Buffer.alloc(5)), FRAME_SIZE_ERROR],
      [
        'CONTINUATION of nothing',
        (id) => frameBytes(CONTINUATION, FLAG_END_HEADERS, id, EMPTY),
        PROTOCOL_ERROR,
      ],
      [
        'another frame within a header block',
        (id) =>
          Buffer.concat([
            frameBytes(HEADERS, 0, id, Buffer.from([0x88])),
            frameBytes(PING, 0, 0, Buffer.alloc(8)),
          ]),
        PROTOCOL_ERROR,
      ],
    ]
    for (const [, says, code] of BAD) await costsTheConnection(t, { says, code })
  })

  test('CVE-2025-23085: a connection that closes at any place of a frame fails its requests and leaves nothing behind', async (t) => {
    const { client, server } = await startH2Pair(t)
    for (const cut of [0, 1, 8, 9, 10, 12]) {
      const asked = [get(client), client.request({ path: '/', method: 'POST', body: 'body' })]
      const failed = Promise.all(asked.map((one) => assert.rejects(one, { code: 'UND_ERR_SOCKET' })))
      const peer = await server.accept()
      const [first] = await peer.take(2)
      const bytes = frameBytes(HEADERS, FLAG_END_HEADERS, first!.id, Buffer.from([0x88, 0x90, 0x91, 0x92]))
      peer.socket.end(bytes.subarray(0, cut))
      await failed
      await peer.closed()
      const { connected, pending, running } = client.stats
      assert.deepEqual({ connected, pending, running }, { connected: false, pending: 0, running: 0 })
    }
  })

  test('CVE-2022-27664: a fatal error after GOAWAY still ends everything', async (t) => {
    const { client, server } = await startH2Pair(t)
    const asked = get(client)
    const failed = assert.rejects(asked, errors.SocketError)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.goaway(id)
    await peer.settled()
    const closed = client.close()
    peer.socket.write(frameBytes(DATA, 0, 0, EMPTY))
    await failed
    await peer.closed()
    await closed
  })

  test('CVE-2019-9517, zero window: a server that gives no room holds up one body, a bounded part of it, and nobody else', async (t) => {
    const { client, server } = await startH2Pair(t, {}, { settings: [[SETTINGS_INITIAL_WINDOW_SIZE, 0]] })
    let read = 0
    const source = Readable.from(
      (function* () {
        for (let i = 0; i < 1000; i++) {
          read += 16_384
          yield Buffer.alloc(16_384)
        }
      })(),
    )
    const controller = new AbortController()
    const { signal } = controller
    const first = get(client)
    const peer = await server.accept()
    // A response without content: by then, the client has the settings of the server.
    peer.head((await peer.request()).id, 204, [], true)
    await first
    const stuck = assert.rejects(client.request({ path: '/', method: 'POST', body: source, signal }), {
      name: 'AbortError',
    })
    const { id } = await peer.request()
    await peer.settled()
    const beside = get(client)
    peer.respond((await peer.request()).id)
    assert.equal(await beside, 'ok')
    await peer.settled()
    assert.deepEqual(peer.pending(DATA, id), [])
    // The engine's buffer, and the read-ahead of a Readable in object mode.
    assert.ok(read <= SEND_HIGH_WATER + 20 * 16_384, `${read} bytes read`)
    controller.abort()
    await stuck
    await peer.resetOf(id)
    assert.equal(source.destroyed, true)
  })
})
