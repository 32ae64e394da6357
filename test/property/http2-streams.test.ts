/**
 * Each stream is settled once and closed once, last, whatever the order of actions by the peer, the owner and the
 * callbacks.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FramePeer, GET, POST } from '../support/frame-peer.ts'
import type { RecordedStream } from '../support/h2-recorder.ts'

type Step = readonly [action: string, stream: number, value: number]

const ACTIONS = [
  'open',
  'open',
  'upload',
  'head',
  'head',
  'head-end',
  'interim',
  'data',
  'data-end',
  'trailers',
  'malformed',
  'peer-reset',
  'goaway',
  'settings',
  'window',
  'send',
  'send-end',
  'reset',
  'pull',
  'fatal',
  'terminate',
  'shutdown',
] as const

const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom(...ACTIONS), fc.nat(7), fc.nat(13))

/** A callback's reaction: usually none. */
const reaction = fc.record({
  on: fc.constantFrom('none', 'none', 'head', 'data', 'end', 'reset', 'closed', 'writable', 'interim'),
  does: fc.constantFrom('reset', 'open', 'terminate', 'shutdown', 'reset-all'),
})

function act(peer: FramePeer, streams: RecordedStream[], [action, index, value]: Step): void {
  const { engine } = peer
  const stream = streams[index % Math.max(1, streams.length)]
  const id = stream?.id ?? 1 + 2 * index
  switch (action) {
    case 'open':
      if (engine.freeStreams > 0) streams.push(peer.open(GET, true))
      break
    case 'upload':
      if (engine.freeStreams > 0) streams.push(peer.open(POST, false))
      break
    case 'head':
      peer.sendHead(id, 200)
      break
    case 'head-end':
      peer.sendHead(id, 200, true)
      break
    case 'interim':
      peer.sendHead(id, 103)
      break
    case 'data':
      peer.sendData(id, 'x'.repeat(value))
      break
    case 'data-end':
      peer.sendData(id, 'x', true)
      break
    case 'trailers':
      peer.sendHeaders(id, ['t', '1'], true)
      break
    case 'malformed':
      peer.sendHeaders(id, [':status', 'x'])
      break
    case 'peer-reset':
      peer.sendReset(id, value)
      break
    case 'goaway':
      peer.sendGoaway(id, value)
      break
    case 'settings':
      peer.sendSettings([[4, value * 10]])
      break
    case 'window':
      peer.sendWindowUpdate(value % 2 ? id : 0, 1 + value)
      break
    case 'send':
    case 'send-end':
      if (stream?.maySend && !stream.hasAllToSend) {
        engine.send(stream, Buffer.alloc(value * 20_000), action === 'send-end')
      }
      break
    case 'reset':
      if (stream) engine.reset(stream, value)
      break
    case 'pull':
      peer.pull()
      break
    case 'fatal':
      if (value === 0) peer.sendFrame(5, 4, 1)
      break
    case 'terminate':
      if (value === 0) engine.terminate({ scope: 'connection', blame: 'peer', code: 'gone', message: '' })
      break
    case 'shutdown':
      if (value < 2) engine.shutdown()
      break
  }
}

test('each stream is settled once and closed once, last', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.array(reaction, { maxLength: 3 }),
      (steps, reactions) => {
        const peer = FramePeer.ready({ maxConcurrentStreams: 6 })
        const { engine } = peer
        const streams: RecordedStream[] = []
        const renounced = new Set<number>()
        const renounce = (stream: RecordedStream): void => {
          renounced.add(stream.id)
          engine.reset(stream, 8)
        }
        let reactionsLeft = 20
        peer.sink.react = (line, stream) => {
          for (const { on, does } of reactions) {
            if (!line.startsWith(`${on} `) || reactionsLeft-- <= 0) continue
            if (does === 'reset') renounce(stream)
            else if (does === 'reset-all') for (const other of [...streams]) renounce(other)
            else if (does === 'open' && engine.freeStreams > 0) streams.push(peer.open(GET, true))
            else if (does === 'terminate')
              engine.terminate({ scope: 'connection', blame: 'peer', code: 'x', message: '' })
            else if (does === 'shutdown') engine.shutdown()
          }
        }
        for (const one of steps) {
          if (one[0] === 'reset' && streams.length > 0) renounced.add(streams[one[1] % streams.length]!.id)
          act(peer, streams, one)
          const live = streams.filter((stream) => !stream.isClosed).length
          assert.equal(engine.streams.size, live)
        }
        engine.terminate({ scope: 'connection', blame: 'peer', code: 'end', message: '' })
        assert.equal(engine.streams.size, 0)

        const lines = peer.heard
        for (const { id, isClosed } of streams) {
          assert.equal(isClosed, true)
          const own = lines.filter(
            (line) => line.split(' ', 2)[1] === String(id) && !/^(goaway|settings)/.test(line),
          )
          const settled = own.filter((line) => /^(end|reset) /.test(line)).length
          const closed = own.filter((line) => line.startsWith('closed ')).length
          assert.equal(closed, 1, `stream ${id}: ${own.join(', ')}`)
          assert.ok(own.at(-1)!.startsWith('closed '), `stream ${id}: ${own.join(', ')}`)
          if (renounced.has(id)) assert.ok(settled <= 1, `stream ${id}: ${own.join(', ')}`)
          else assert.equal(settled, 1, `stream ${id}: ${own.join(', ')}`)
          const end = own.findIndex((line) => /^(end|reset) /.test(line))
          if (end >= 0) assert.ok(own.slice(end + 1).every((line) => /^(closed|writable) /.test(line)))
          assert.ok(own.filter((line) => line.startsWith('head ')).length <= 1)
        }
        const failures = lines.filter((line) => line.startsWith('failure'))
        assert.ok(failures.length <= 1)
      },
    ),
    { numRuns: 1500 },
  )
})
