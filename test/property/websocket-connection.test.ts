/** Whatever a server sends, compressed or not, in whatever pieces: a connection ends once and never throws. */
import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { it } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { ABNORMAL } from '../../src/protocol/websocket/close-code.ts'
import { type Closure, WebSocketConnection } from '../../src/websocket/connection.ts'
import type { Opened } from '../../src/websocket/opening-handshake.ts'
import { CLOSE, closePayload, serverFrame } from '../protocol/websocket/server-frames.ts'

const MAX_PAYLOAD = 2000

const deflated = (input: Buffer): Buffer => deflateRawSync(input, { finishFlush: 2 }).subarray(0, -4)

const payload = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 100 }).map(Buffer.from),
  fc.uint8Array({ maxLength: 100 }).map(Buffer.from),
  fc.nat(3 * MAX_PAYLOAD).map((size) => Buffer.alloc(size, 'x')),
)

const frame = fc
  .record({
    opcode: fc.oneof(
      { weight: 10, arbitrary: fc.constantFrom(0, 1, 2, 9, 10) },
      fc.integer({ min: 0, max: 15 }),
    ),
    payload,
    compressed: fc.boolean(),
    marked: fc.boolean(),
    fin: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  })
  .map(({ opcode, payload: body, compressed, marked, fin }) => {
    const isData = opcode === 1 || opcode === 2
    return serverFrame(
      opcode,
      compressed && opcode < 3 ? deflated(body) : body.subarray(0, isData ? undefined : 125),
      {
        fin,
        rsv: isData && (marked ? compressed : false) ? 4 : 0,
      },
    )
  })

const code = fc.oneof(
  fc.constant(1000),
  fc.integer({ min: 999, max: 1016 }),
  fc.integer({ min: 2999, max: 5000 }),
)

const conversation = fc.record({
  frames: fc.array(frame, { maxLength: 8 }),
  close: fc.option(code),
  cut: fc.integer({ min: 1, max: 5000 }),
  noContext: fc.boolean(),
})

it('arbitrary conversations', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async ({ frames, close, cut, noContext }) => {
      const bytes = Buffer.concat([
        ...frames,
        ...(close === null ? [] : [serverFrame(CLOSE, closePayload(close))]),
      ])
      const sent: Buffer[] = []
      const socket = new Duplex({
        read() {},
        write(chunk: Buffer, _encoding, done) {
          sent.push(chunk)
          done()
        },
      })
      const closures: Closure[] = []
      await new Promise<void>((resolve) => {
        const deflate = {
          serverWindowBits: 15,
          serverNoContextTakeover: noContext,
          clientWindowBits: 15,
          clientNoContextTakeover: noContext,
        }
        const limits = { maxFragments: 5, maxPayloadSize: MAX_PAYLOAD }
        const connection = new WebSocketConnection({}, { socket, agreement: { deflate } } as Opened, limits, {
          onMessage: (data) => {
            assert.ok(Buffer.byteLength(data) <= MAX_PAYLOAD)
            if (typeof data === 'string') connection.sender.text(data)
            else connection.sender.binary(data)
          },
          onClosing: () => {},
          onClosed: (closure) => {
            closures.push(closure)
            resolve()
          },
        })
        connection.start()
        for (let at = 0; at < bytes.length; at += cut) socket.push(bytes.subarray(at, at + cut))
        socket.push(null)
      })
      assert.equal(closures.length, 1)
      const [closure] = closures as [Closure]
      assert.equal(closure.error === null, closure.code !== ABNORMAL, `${closure.code}`)
      assert.ok(sent.every((chunk) => (chunk[1]! & 0x80) !== 0))
    }),
    { numRuns: 600 },
  )
})
