/** The WebSocket receiver: the same events in any pieces, one end, messages within their limit. */
import assert from 'node:assert/strict'
import type { Compression } from '../../../src/protocol/websocket/receiver.ts'
import { RecordingSink } from '../../protocol/websocket/server-frames.ts'
import type { Recording } from '../corpus.ts'
import { cut } from '../mutator.ts'
import type { Random } from '../random.ts'
import type { Target } from '../target.ts'

/** Above the longest recorded message, below two of them. */
const LIMITS = { maxFragments: 8, maxPayloadSize: 1_500 }

const MORE = Buffer.from('8101788101798800', 'hex')

class Reading {
  readonly #sink: RecordingSink
  readonly #compressed: { bytes: Buffer; last: boolean }[] = []

  constructor(compression: Compression) {
    this.#sink = new RecordingSink(LIMITS, compression)
    // The inflater does not matter here: it returns its input.
    this.#sink.onCompressed = (bytes, start, end, last) => {
      this.#compressed.push({ bytes: Buffer.from(bytes.subarray(start, end)), last })
      this.#sink.receiver.pause()
    }
  }

  feed(bytes: Buffer): void {
    const { receiver } = this.#sink
    for (let at = 0; ; ) {
      const next = receiver.execute(bytes, at, bytes.length)
      assert.ok(next >= at && next <= bytes.length)
      at = next
      if (receiver.status === 'ended') return
      const piece = this.#compressed.shift()
      if (piece === undefined) {
        assert.equal(at, bytes.length, 'bytes were left')
        return
      }
      if (receiver.inflated(piece.bytes) && piece.last) receiver.inflatedEnd()
      receiver.resume()
    }
  }

  get events(): readonly string[] {
    return this.#sink.events
  }

  assertEnded(): void {
    const { receiver, events } = this.#sink
    const ends = events.filter((event) => /^(?:close|failed) /.test(event))
    assert.equal(ends.length, receiver.status === 'ended' ? 1 : 0)
    if (ends.length === 0) return
    assert.equal(events.at(-1), ends[0], 'something followed the end')
    const before = [...events]
    this.feed(MORE)
    receiver.inflated(MORE)
    receiver.inflatedEnd()
    receiver.inflateFailed()
    assert.deepEqual(events, before, 'something followed the end')
  }
}

function check({ context, bytes }: Recording, random: Random): void {
  const compression = context === 'none' ? 'none' : random.oneIn(20) ? 'invalid' : 'deflate'
  const whole = new Reading(compression)
  whole.feed(bytes)
  const pieces = new Reading(compression)
  for (const piece of cut(bytes, random)) pieces.feed(piece)
  assert.deepEqual(pieces.events, whole.events, 'the same bytes in other pieces')
  // A frame takes two bytes.
  assert.ok(whole.events.length <= bytes.length / 2 + 1, 'more events than bytes explain')
  for (const event of whole.events) {
    if (event.startsWith('text ')) assert.ok(Buffer.byteLength(event) - 5 <= LIMITS.maxPayloadSize)
    if (event.startsWith('binary ')) assert.ok((event.length - 7) / 2 <= LIMITS.maxPayloadSize)
  }
  whole.assertEnded()
}

export const webSocketReceiver: Target = { name: 'websocket-receiver', corpus: 'websocket', check }
