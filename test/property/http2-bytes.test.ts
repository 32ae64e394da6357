/** Invariants of the engine over its input: splitting the bytes changes nothing, and no bytes make it throw. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FramePeer, frameBytes, POST, settingsPayload, uint32 } from '../support/frame-peer.ts'

/** Frames that make sense often enough to get deep into the engine. */
function frames(peer: FramePeer): fc.Arbitrary<Buffer> {
  const id = fc.constantFrom(0, 1, 1, 3, 3, 5, 2, 9)
  const end = fc.constantFrom(0, 1)
  const status = fc.constantFrom('200', '204', '103', '404', '20')
  const head = peer.block([':status', '200'])
  const custom = fc
    .tuple(
      status,
      fc.constantFrom('a', 'content-length', 'connection', 'B'),
      fc.constantFrom('1', '5', '', '\n'),
    )
    .map(([code, name, value]) => {
      // Literals without indexing only, so that each block can be decoded wherever it lands.
      const literal = (text: string) =>
        Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')])
      const parts = [
        Buffer.from([0]),
        literal(':status'),
        literal(code),
        Buffer.from([0]),
        literal(name),
        literal(value),
      ]
      return Buffer.concat(parts)
    })
  const block = fc.oneof(fc.constant(head), custom)
  const data = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
  return fc.oneof(
    fc.tuple(id, end, block).map(([i, e, b]) => frameBytes(1, 4 | e, i, b)),
    fc.tuple(id, end, block).map(([i, e, b]) => frameBytes(1, e, i, b)),
    fc.tuple(id, fc.constantFrom(0, 4), block).map(([i, flags, b]) => frameBytes(9, flags, i, b)),
    fc.tuple(id, end, data).map(([i, e, d]) => frameBytes(0, e, i, d)),
    fc.tuple(id, end, data).map(([i, e, d]) => frameBytes(0, 8 | e, i, d)),
    fc.tuple(id, fc.nat(14)).map(([i, code]) => frameBytes(3, 0, i, uint32(code))),
    fc.tuple(id, fc.constantFrom(0, 1, 1000, 0x7fffffff)).map(([i, n]) => frameBytes(8, 0, i, uint32(n))),
    fc
      .tuple(fc.nat(9), fc.constantFrom(0, 1, 20_000, 0xffffffff))
      .map(([k, v]) => frameBytes(4, 0, 0, settingsPayload([[k, v]]))),
    fc.constant(frameBytes(6, 0, 0, Buffer.from('12345678'))),
    fc.tuple(id, fc.nat(3)).map(([last, code]) => frameBytes(7, 0, 0, uint32(last, code))),
    fc.tuple(fc.nat(255), fc.nat(255), id, data).map(([type, flags, i, d]) => frameBytes(type, flags, i, d)),
  )
}

function start(): FramePeer {
  const peer = FramePeer.ready()
  peer.open()
  const upload = peer.open(POST, false)
  peer.engine.send(upload, Buffer.alloc(100_000), false)
  peer.open()
  peer.frames()
  return peer
}

/** The recorded callbacks, with adjacent pieces of content joined. */
function joined(lines: readonly string[]): string[] {
  const result: string[] = []
  for (const line of lines) {
    const [kind, id] = line.split(' ', 2)
    const last = result.at(-1)
    if (kind === 'data' && last?.startsWith(`data ${id} `))
      result[result.length - 1] = last + line.slice(6 + id!.length)
    else result.push(line)
  }
  return result
}

test('any split of the same bytes gives the same events and the same output', () => {
  const script = fc.array(frames(new FramePeer()), { maxLength: 12 })
  fc.assert(
    fc.property(script, fc.array(fc.nat(30), { minLength: 1, maxLength: 20 }), (list, cuts) => {
      const bytes = Buffer.concat(list)
      const whole = start()
      whole.engine.receive(bytes, 0, bytes.length, 0)
      const pieces = start()
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = Math.min(bytes.length, at + 1 + cuts[i % cuts.length]!)
        pieces.engine.receive(bytes, at, end, 0)
        at = end
      }
      assert.deepEqual(joined(pieces.heard), joined(whole.heard))
      assert.deepEqual(pieces.frames(), whole.frames())
    }),
    { numRuns: 400 },
  )
})

test('arbitrary bytes end in events or one failure, never an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, isReady) => {
      const peer = isReady ? start() : new FramePeer()
      peer.sendBytes(bytes)
      peer.frames()
      assert.ok(peer.heard.filter((line) => line.startsWith('failure')).length <= 1)
    }),
    { numRuns: 500 },
  )
})

test('a valid conversation with flipped bytes ends in events or one failure, never an exception', () => {
  const script = fc.array(frames(new FramePeer()), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(script, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 }), (list, flips) => {
      const bytes = Buffer.concat(list)
      for (const [at, value] of flips) bytes[at % bytes.length] = value
      const peer = start()
      peer.sendBytes(bytes)
      peer.frames()
      const failures = peer.heard.filter((line) => line.startsWith('failure'))
      assert.equal(failures.length, peer.engine.isClosed ? 1 : 0)
    }),
    { numRuns: 400 },
  )
})
