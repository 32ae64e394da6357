/** Flow control as the peer sees it: the client never exceeds the windows, and loses nothing of the peer's data. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DATA, FLAG_END_STREAM, WINDOW_UPDATE } from '../../src/protocol/http2/constants.ts'
import { FramePeer, POST } from '../support/frame-peer.ts'

const SETTINGS_INITIAL_WINDOW_SIZE = 4

type Move = readonly [
  kind: 'send' | 'end' | 'stream' | 'connection' | 'initial' | 'reset' | 'pull',
  i: number,
  n: number,
]

const move: fc.Arbitrary<Move> = fc.tuple(
  fc.constantFrom(
    'send',
    'send',
    'end',
    'stream',
    'stream',
    'connection',
    'initial',
    'reset',
    'pull',
    'pull',
  ),
  fc.nat(3),
  fc.oneof(fc.nat(50), fc.nat(70_000)),
)

test('bytes sent never exceed either window, and all of them come out in order', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), fc.nat(40_000), (moves, firstInitial) => {
      const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, firstInitial]])
      const streams = [0, 1, 2, 3].map(() => peer.request(POST, false))
      let initial = firstInitial
      let connection = 65_535
      const windows = streams.map(() => initial)
      const queued = streams.map(() => 0)
      const seen = streams.map(() => 0)
      const ended = streams.map(() => false)
      const gone = streams.map(() => false)
      const next = streams.map(() => 0)

      const look = (): void => {
        for (const frame of peer.frames()) {
          if (frame.type !== DATA) continue
          const i = (frame.streamId - 1) / 2
          const length = frame.payload.length
          assert.equal(gone[i], false, 'DATA after RST_STREAM')
          assert.ok(length <= 16_384)
          connection -= length
          windows[i]! -= length
          if (length > 0) {
            assert.ok(connection >= 0, 'beyond the connection window')
            assert.ok(windows[i]! >= 0, 'beyond the stream window')
          }
          for (const byte of frame.payload) {
            assert.equal(byte, next[i]! % 251)
            next[i]!++
          }
          seen[i]! += length
          if ((frame.flags & FLAG_END_STREAM) !== 0) {
            assert.equal(ended[i], true)
            assert.equal(seen[i], queued[i], 'END_STREAM before the last byte')
          }
        }
        // All output that the windows allow was sent.
        for (const [i, stream] of streams.entries()) {
          if (gone[i]) continue
          assert.equal(stream.queue.bytes, queued[i]! - seen[i]!)
          if (stream.queue.bytes > 0)
            assert.ok(connection <= 0 || windows[i]! <= 0, 'held back for no reason')
        }
      }

      for (const [kind, i, n] of moves) {
        const stream = streams[i]!
        if ((kind === 'send' || kind === 'end') && !ended[i] && !gone[i]) {
          const chunk = Buffer.alloc(n)
          for (let k = 0; k < n; k++) chunk[k] = (queued[i]! + k) % 251
          queued[i]! += n
          ended[i] = kind === 'end'
          peer.engine.send(stream, chunk, kind === 'end')
        } else if (kind === 'stream' && n > 0) {
          peer.sendWindowUpdate(stream.id, n)
          windows[i]! += n
        } else if (kind === 'connection' && n > 0) {
          peer.sendWindowUpdate(0, n)
          connection += n
        } else if (kind === 'initial') {
          peer.sendSettings([[SETTINGS_INITIAL_WINDOW_SIZE, n]])
          for (let k = 0; k < windows.length; k++) windows[k]! += n - initial
          initial = n
        } else if (kind === 'reset' && n % 10 === 0 && !gone[i]) {
          look()
          peer.engine.reset(stream, 8)
          gone[i] = true
        } else if (kind === 'pull') {
          look()
        }
      }
      look()
      assert.equal(peer.engine.isClosed, false)
    }),
    { numRuns: 150 },
  )
})

test('what a peer sends is given back in full once it is consumed', () => {
  const piece = fc.record({
    stream: fc.nat(2),
    bytes: fc.nat(3000),
    padding: fc.nat(100),
    consumed: fc.nat(100),
    waits: fc.nat(50),
  })
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 80 }),
      fc.integer({ min: 1, max: 20_000 }),
      (pieces, initial) => {
        const peer = FramePeer.ready({ initialWindowSize: initial, connectionWindowSize: 65_535 })
        peer.sink.countsData = true
        peer.engine.growth.addRoundTrip(20)
        const streams = [0, 1, 2].map(() => peer.request())
        for (const stream of streams) peer.sendHead(stream.id, 200)
        const windows = streams.map(() => initial)
        const held = streams.map(() => 0)
        let connection = 65_535
        const look = (): void => {
          for (const frame of peer.frames()) {
            if (frame.type !== WINDOW_UPDATE) continue
            const increment = frame.payload.readUInt32BE(0)
            assert.ok(increment > 0)
            if (frame.streamId === 0) connection += increment
            else windows[(frame.streamId - 1) / 2]! += increment
          }
        }
        for (const { stream: i, bytes, padding, consumed, waits } of pieces) {
          peer.now += waits
          const room = Math.min(windows[i]!, connection)
          const length = Math.min(bytes, room - padding - 1)
          if (length > 0) {
            peer.sendPaddedData(streams[i]!.id, 'x'.repeat(length), padding)
            windows[i]! -= length + padding + 1
            connection -= length + padding + 1
            held[i]! += length
          }
          const release = Math.floor((held[i]! * consumed) / 100)
          peer.engine.release(streams[i]!, release)
          held[i]! -= release
          look()
          assert.equal(peer.engine.isClosed, false)
        }
        // With everything consumed, at least three quarters of each window are open, grown or not.
        for (const [i, stream] of streams.entries()) {
          peer.engine.release(stream, held[i]!)
          look()
          assert.ok(windows[i]! * 4 > initial * 3, `${windows[i]} of ${initial}`)
          assert.equal(stream.receiveWindow.held, 0)
          assert.equal(windows[i], stream.receiveWindow.available, 'both ends agree')
        }
        assert.ok(connection * 4 > 65_535 * 3)
      },
    ),
    { numRuns: 300 },
  )
})
