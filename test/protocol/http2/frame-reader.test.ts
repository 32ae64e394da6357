import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  DATA,
  FLAG_PADDED,
  FRAME_SIZE_ERROR,
  GOAWAY,
  HEADERS,
  PING,
  RST_STREAM,
  SETTINGS,
} from '../../../src/protocol/http2/constants.ts'
import { FrameReader } from '../../../src/protocol/http2/frame-reader.ts'
import { frameBytes, settingsPayload, uint32 } from '../../support/frame-peer.ts'
import { FrameLog } from '../../support/h2-frame-log.ts'

const CONVERSATION = Buffer.concat([
  frameBytes(SETTINGS, 0, 0, settingsPayload([[3, 100]])),
  frameBytes(SETTINGS, 1, 0, Buffer.alloc(0)),
  frameBytes(HEADERS, 4, 1, Buffer.from('block')),
  frameBytes(DATA, 0, 1, Buffer.from('some content')),
  frameBytes(DATA, FLAG_PADDED, 1, Buffer.from('\x03padded\0\0\0')),
  frameBytes(DATA, FLAG_PADDED, 1, Buffer.from('\0')),
  frameBytes(0x2a, 0, 0, Buffer.from('skipped')),
  frameBytes(PING, 0, 0, Buffer.from('12345678')),
  frameBytes(RST_STREAM, 0, 1, uint32(8)),
  frameBytes(GOAWAY, 0, 0, Buffer.concat([uint32(1, 2), Buffer.from('why')])),
])

const EXPECTED = [
  'settings 000300000064',
  'settings ack',
  'headers 1 4 block',
  'data 1 0 12 12 some content',
  'data 1 8 10 6 padded',
  'data 1 8 1 0 ',
  'ignored',
  'ping false 12345678',
  'rst 1 8',
  'goaway 1 2 why',
]

describe('frames', () => {
  test('are read from one piece', () => {
    const log = new FrameLog()
    new FrameReader(log, 16_384).receive(CONVERSATION, 0, CONVERSATION.length)
    assert.deepEqual(log.lines, EXPECTED)
  })

  test('are read from the middle of a buffer', () => {
    const log = new FrameLog()
    const buf = Buffer.concat([Buffer.alloc(7, 0xff), CONVERSATION, Buffer.alloc(7, 0xff)])
    new FrameReader(log, 16_384).receive(buf, 7, buf.length - 7)
    assert.deepEqual(log.lines, EXPECTED)
  })

  test('are read byte by byte, and at every split', () => {
    const single = new FrameLog()
    const reader = new FrameReader(single, 16_384)
    for (let i = 0; i < CONVERSATION.length; i++) reader.receive(CONVERSATION, i, i + 1)
    assert.deepEqual(single.lines, EXPECTED)
    for (let i = 0; i <= CONVERSATION.length; i++) {
      const log = new FrameLog()
      const halves = new FrameReader(log, 16_384)
      halves.receive(CONVERSATION, 0, i)
      halves.receive(CONVERSATION, i, CONVERSATION.length)
      assert.deepEqual(log.lines, EXPECTED)
    }
  })

  test('DATA is passed on before its frame is complete, in place', () => {
    const log = new FrameLog()
    const reader = new FrameReader(log, 16_384)
    const bytes = frameBytes(DATA, 0, 1, Buffer.alloc(16_384, 'x')).subarray(0, 15)
    reader.receive(bytes, 0, bytes.length)
    assert.equal(log.content, 'xxxxxx')
    assert.equal(log.lastBuffer, bytes)
  })
})

test('a handler that refuses a frame stops the reader for good', () => {
  const log = new FrameLog()
  const reader = new FrameReader(log, 16_384)
  log.refuses = true
  reader.receive(CONVERSATION, 0, CONVERSATION.length)
  log.refuses = false
  reader.receive(CONVERSATION, 0, CONVERSATION.length)
  assert.deepEqual(log.lines, [])
})

test('behind a fault nothing is read, even if the handler does not stop', () => {
  const log = new FrameLog()
  const faulty = Buffer.concat([frameBytes(PING, 0, 0, Buffer.alloc(7)), CONVERSATION])
  new FrameReader(log, 16_384).receive(faulty, 0, faulty.length)
  assert.deepEqual(log.lines, [`connection fault ${FRAME_SIZE_ERROR}`])
})

test('a handler that stops within a callback gets no more, in this read or the next', () => {
  const log = new FrameLog()
  const reader = new FrameReader(log, 16_384)
  log.react = () => {
    log.isStopped = true
  }
  reader.receive(CONVERSATION, 0, CONVERSATION.length)
  assert.deepEqual(log.lines, EXPECTED.slice(0, 1))
  reader.receive(CONVERSATION, 0, CONVERSATION.length)
  assert.deepEqual(log.lines, EXPECTED.slice(0, 1))
})
