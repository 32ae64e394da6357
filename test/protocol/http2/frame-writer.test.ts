import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HpackEncoder } from '../../../src/protocol/hpack/encoder.ts'
import { DATA, FLAG_END_STREAM, HEADERS, PING } from '../../../src/protocol/http2/constants.ts'
import { FrameWriter } from '../../../src/protocol/http2/frame-writer.ts'
import { parseFrames } from '../../support/frame-peer.ts'

test('an empty writer gives nothing', () => {
  const writer = new FrameWriter()
  assert.equal(writer.isEmpty, true)
  assert.equal(writer.take(), null)
})

test('bytes given away are never written again, also when a slab is full', () => {
  const writer = new FrameWriter()
  const taken: Uint8Array[] = []
  const copies: Buffer[] = []
  for (let i = 0; i < 20_000; i++) {
    writer.ping(i % 2 === 0, Buffer.from(String(i).padStart(8, '0')), 0)
    if (i % 7 !== 0) continue
    assert.equal(writer.isEmpty, false)
    for (const part of writer.take()!) {
      taken.push(part)
      copies.push(Buffer.from(part))
    }
  }
  for (const part of writer.take() ?? []) {
    taken.push(part)
    copies.push(Buffer.from(part))
  }
  assert.deepEqual(Buffer.concat(taken), Buffer.concat(copies))
  const frames = parseFrames(Buffer.concat(taken))
  assert.equal(frames.length, 20_000)
  frames.forEach((frame, i) => {
    assert.equal(frame.type, PING)
    assert.equal(frame.payload.toString(), String(i).padStart(8, '0'))
  })
})

test('memory is taken for what is written: little by a quiet connection, more by a busy one', () => {
  const sizes = (perTurn: number): number[] => {
    const writer = new FrameWriter()
    const seen = new Set<ArrayBufferLike>()
    for (let turn = 0; turn < 2000; turn++) {
      for (let i = 0; i < perTurn; i++) writer.ping(false, Buffer.alloc(8), 0)
      for (const part of writer.take()!) seen.add(part.buffer)
    }
    return [...new Set([...seen].map((memory) => memory.byteLength))]
  }
  assert.deepEqual(sizes(1), [1024])
  assert.deepEqual(sizes(20), [1024, 2720])
  assert.deepEqual(sizes(500), [1024, 8160, 16_384])
})

test('control bytes are counted until they are taken', () => {
  const writer = new FrameWriter()
  writer.rstStream(1, 8)
  writer.windowUpdate(0, 10)
  writer.dataHeader(1, 0, true)
  assert.equal(writer.controlBytes, 26)
  writer.take()
  assert.equal(writer.controlBytes, 0)
})

test('small pieces are copied, large ones referred to, in order', () => {
  const writer = new FrameWriter()
  const small = Buffer.from('small')
  const large = Buffer.alloc(10_000, 'L')
  writer.dataHeader(1, small.length + large.length + 5000, false)
  writer.body(small, 0, small.length)
  writer.body(large, 0, large.length)
  writer.body(large, 5000, 10_000)
  writer.dataHeader(1, 0, true)
  small.fill('?')
  const parts = writer.take()!
  assert.equal(parts[1], large)
  const frames = parseFrames(Buffer.concat(parts))
  assert.deepEqual(
    frames.map((frame) => [frame.type, frame.flags, frame.payload.length]),
    [
      [DATA, 0, 15_005],
      [DATA, 1, 0],
    ],
  )
  assert.equal(frames[0]!.payload.toString('latin1', 0, 6), 'smallL')
})

test('a header block larger than a slab is written', () => {
  const writer = new FrameWriter()
  const encoder = new HpackEncoder()
  writer.headers(1, true, encoder, ['x', '~'.repeat(200_000)], 16_384)
  const frames = parseFrames(Buffer.concat(writer.take()!))
  assert.equal(frames.length, 13)
  assert.equal(frames[0]!.type, HEADERS)
  assert.deepEqual([frames[0]!.flags, frames[1]!.flags, frames.at(-1)!.flags], [1, 0, 4])
})

test('a header block that fits exactly is one frame', () => {
  const encoder = new HpackEncoder()
  const fields = ['x', '~'.repeat(500)]
  const probe = new FrameWriter()
  probe.headers(1, false, encoder, fields, 16_384)
  const size = parseFrames(Buffer.concat(probe.take()!))[0]!.payload.length
  for (const [maxFrame, count] of [
    [size, 1],
    [size - 1, 2],
  ] as const) {
    const writer = new FrameWriter()
    writer.headers(1, false, new HpackEncoder(), fields, maxFrame)
    assert.equal(parseFrames(Buffer.concat(writer.take()!)).length, count)
  }
})

test('HEADERS end their stream after all as long as they have not been given away', () => {
  const writer = new FrameWriter()
  const encoder = new HpackEncoder()
  const first = writer.headers(1, false, encoder, [':method', 'GET'], 16_384)
  assert.equal(writer.endAtHead(first), true)
  const [frame] = parseFrames(Buffer.concat(writer.take()!))
  assert.equal(frame!.flags & FLAG_END_STREAM, FLAG_END_STREAM)
  assert.equal(writer.endAtHead(first), false)
})
