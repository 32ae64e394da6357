import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeFrame, encodeTextFrame } from '../../src/protocol/websocket/frame-encoder.ts'
import { mask } from '../../src/protocol/websocket/masking.ts'
import { Utf8Validator } from '../../src/protocol/websocket/utf8.ts'
import { NO_LIMITS, RecordingSink, receive, serverFrame } from '../protocol/websocket/server-frames.ts'

const RUNS = { numRuns: 400 }
const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))

/** Mostly valid, sometimes not. */
const frame = fc
  .record({
    opcode: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(0, 1, 2, 9, 10) },
      fc.integer({ min: 0, max: 15 }),
    ),
    payload: fc.oneof({ weight: 6, arbitrary: fc.string({ unit: 'grapheme' }).map(Buffer.from) }, bytes(200)),
    fin: fc.boolean(),
    rsv: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(0, 4) }, fc.integer({ min: 0, max: 7 })),
    masked: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.boolean()),
    lengthBits: fc.constantFrom(undefined, undefined, undefined, 16 as const, 64 as const),
  })
  .map(({ opcode, payload, lengthBits, ...shape }) =>
    serverFrame(opcode, payload, lengthBits === undefined ? shape : { ...shape, lengthBits }),
  )

const conversation = fc.array(frame, { maxLength: 12 }).map((frames) => Buffer.concat(frames))
const limits = fc.record({
  maxFragments: fc.constantFrom(0, 1, 3),
  maxPayloadSize: fc.constantFrom(0, 10, 1000),
})
const compression = fc.constantFrom('none' as const, 'deflate' as const, 'invalid' as const)

/** The pieces of a compressed message depend on the split; their concatenation must not. */
function joined(events: readonly string[]): string[] {
  const result: string[] = []
  for (const event of events) {
    const last = result.at(-1)
    if (event.startsWith('compressed') && last?.startsWith('compressed') && !last.endsWith(' last')) {
      result[result.length - 1] = last + event.slice('compressed '.length)
    } else {
      result.push(event)
    }
  }
  return result
}

describe('the receiver', () => {
  it('any split of the same bytes gives the same', () => {
    fc.assert(
      fc.property(
        conversation,
        limits,
        compression,
        fc.infiniteStream(fc.nat(40)),
        (input, bounds, kind, steps) => {
          const cuts: number[] = []
          for (let at = 0; at < input.length; at += 1 + steps.next().value!) cuts.push(at)
          assert.deepEqual(joined(receive(input, bounds, kind, cuts)), joined(receive(input, bounds, kind)))
        },
      ),
      RUNS,
    )
  })

  it('arbitrary bytes never throw, and fail at most once', () => {
    fc.assert(
      fc.property(fc.oneof(bytes(500), conversation), limits, compression, (input, bounds, kind) => {
        const events = receive(input, bounds, kind)
        const ends = events.filter((event) => event.startsWith('failed') || event.startsWith('close'))
        assert.ok(ends.length <= 1)
        if (ends.length === 1) assert.equal(events.at(-1), ends[0])
        if (ends[0]?.startsWith('failed')) assert.match(ends[0], /^failed (1002|1007|1008|1009) /)
      }),
      RUNS,
    )
  })

  it('no message is larger than the limit', () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 1, max: 50 }), (input, maxPayloadSize) => {
        const sink = new RecordingSink({ maxFragments: 0, maxPayloadSize }, 'none')
        sink.onMessage = (data) => assert.ok(Buffer.byteLength(data) <= maxPayloadSize)
        sink.receiver.execute(input, 0, input.length)
      }),
      RUNS,
    )
  })

  it('pausing at any event loses nothing', () => {
    fc.assert(
      fc.property(conversation, fc.infiniteStream(fc.boolean()), (input, pauses) => {
        const sink = new RecordingSink()
        sink.after = (receiver) => {
          if (pauses.next().value) receiver.pause()
        }
        let at = 0
        for (;;) {
          at = sink.receiver.execute(input, at, input.length)
          if (sink.receiver.status !== 'paused') break
          sink.receiver.resume()
        }
        assert.deepEqual(sink.events, receive(input))
      }),
      RUNS,
    )
  })
})

describe('the encoder', () => {
  /** Unmasks a frame, as a server does, and reads it as a client would. */
  const readBack = (encoded: Buffer): string[] => {
    const short = encoded[1]! & 0x7f
    const start = 2 + (short < 126 ? 0 : short === 126 ? 2 : 8)
    const key = encoded.readUInt32LE(start)
    const copy = Buffer.from(encoded)
    mask(copy, start + 4, copy.length, key)
    copy[1]! &= 0x7f
    return receive(Buffer.concat([copy.subarray(0, start), copy.subarray(start + 4)]), NO_LIMITS)
  }

  it('what it encodes is what is read', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(0xffff_ffff), (text, key) => {
        assert.deepEqual(readBack(encodeTextFrame(1, text, Buffer.byteLength(text), key)), [`text ${text}`])
      }),
      RUNS,
    )
    fc.assert(
      fc.property(fc.array(bytes(200), { maxLength: 5 }), fc.nat(0xffff_ffff), (parts, key) => {
        const whole = Buffer.concat(parts)
        assert.deepEqual(readBack(encodeFrame(2, false, parts, whole.length, key)), [
          `binary ${whole.toString('hex')}`,
        ])
      }),
      RUNS,
    )
  })
})

describe('UTF-8', () => {
  it('agrees with the runtime, whatever the pieces', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const nearlyText = fc
      .tuple(
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 2 }),
      )
      .map(([text, changes]) => {
        const buffer = Buffer.from(text)
        for (const [at, value] of changes) if (at < buffer.length) buffer[at] = value
        return buffer
      })
    fc.assert(
      fc.property(fc.oneof(nearlyText, bytes(10)), fc.infiniteStream(fc.nat(6)), (input, steps) => {
        const utf8 = new Utf8Validator()
        let valid = true
        for (let at = 0; at < input.length; ) {
          const next = Math.min(at + 1 + steps.next().value!, input.length)
          valid = utf8.accepts(input, at, next)
          at = next
        }
        let expected = true
        try {
          decoder.decode(input)
        } catch {
          expected = false
        }
        assert.equal(valid && utf8.complete, expected)
      }),
      { numRuns: 2000 },
    )
  })
})
