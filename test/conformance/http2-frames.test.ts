/**
 * The frame vectors of http2jp. Each vector is a single frame, so only the frame reader judges frames that depend on
 * others (a CONTINUATION needs HEADERS); the engine refuses pushes.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PUSH_PROMISE } from '../../src/protocol/http2/constants.ts'
import { FrameReader } from '../../src/protocol/http2/frame-reader.ts'
import { FramePeer } from '../support/frame-peer.ts'
import { FrameLog } from '../support/h2-frame-log.ts'
import { loadVectors } from '../support/vectors.ts'

interface Vector {
  readonly id: string
  readonly error: readonly number[] | null
  readonly wire: string
  readonly description: string
}

const { data, skip } = loadVectors<{ vectors: readonly Vector[] }>('h2-frames.json', { vectors: [] })

/** Fed whole, then byte by byte. */
function faultsOf(wire: Buffer): { whole: FrameLog; bytewise: FrameLog } {
  const whole = new FrameLog()
  new FrameReader(whole, 16_384).receive(wire, 0, wire.length)
  const bytewise = new FrameLog()
  const reader = new FrameReader(bytewise, 16_384)
  for (let i = 0; i < wire.length; i++) reader.receive(wire, i, i + 1)
  return { whole, bytewise }
}

describe('frame vectors', { skip }, () => {
  test('there are some', () => assert.ok(data.vectors.length > 0))

  for (const vector of data.vectors) {
    const wire = Buffer.from(vector.wire, 'hex')
    test(`${vector.id}: ${vector.description}`, () => {
      if (wire[3] === PUSH_PROMISE) {
        const peer = FramePeer.ready()
        for (let i = 0; i < 10; i++) peer.open()
        peer.sendBytes(wire)
        peer.wantFailure(1)
        return
      }
      const { whole, bytewise } = faultsOf(wire)
      assert.deepEqual(bytewise.lines, whole.lines)
      if (vector.error === null) {
        assert.deepEqual(whole.faults, [])
        assert.equal(whole.lines.length, 1)
      } else {
        assert.equal(whole.faults.length, 1)
        assert.ok(vector.error.includes(whole.faults[0]!), `fault ${whole.faults[0]}`)
      }
    })
  }
})
