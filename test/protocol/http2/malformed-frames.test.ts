import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CONTINUATION,
  DATA,
  FLAG_ACK,
  FLAG_END_HEADERS,
  FLAG_PADDED,
  FLAG_PRIORITY,
  FRAME_SIZE_ERROR,
  GOAWAY,
  HEADERS,
  PING,
  PRIORITY,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../../src/protocol/http2/constants.ts'
import { FramePeer, uint32 } from '../../support/frame-peer.ts'

function open(): FramePeer {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendHead(1, 200)
  peer.sink.take()
  return peer
}

interface Case {
  readonly title: string
  readonly frame: readonly [type: number, flags: number, streamId: number, payload: Uint8Array | string]
  readonly code: number
}

const FATAL: readonly Case[] = [
  { title: 'DATA on stream 0', frame: [DATA, 0, 0, 'x'], code: PROTOCOL_ERROR },
  { title: 'padded DATA that is empty', frame: [DATA, FLAG_PADDED, 1, ''], code: FRAME_SIZE_ERROR },
  {
    title: 'DATA with as much padding as payload',
    frame: [DATA, FLAG_PADDED, 1, '\x04abc'],
    code: PROTOCOL_ERROR,
  },
  {
    title: 'DATA with more padding than payload',
    frame: [DATA, FLAG_PADDED, 1, '\xff'],
    code: PROTOCOL_ERROR,
  },
  { title: 'HEADERS on stream 0', frame: [HEADERS, FLAG_END_HEADERS, 0, '\x88'], code: PROTOCOL_ERROR },
  { title: 'padded HEADERS that is empty', frame: [HEADERS, FLAG_PADDED | 4, 1, ''], code: FRAME_SIZE_ERROR },
  {
    title: 'HEADERS with too much padding',
    frame: [HEADERS, FLAG_PADDED | 4, 1, '\x02x'],
    code: PROTOCOL_ERROR,
  },
  {
    title: 'HEADERS with too much padding behind a priority',
    frame: [HEADERS, FLAG_PADDED | FLAG_PRIORITY | 4, 1, '\x02\0\0\0\0\0x'],
    code: PROTOCOL_ERROR,
  },
  {
    title: 'HEADERS without room for a priority',
    frame: [HEADERS, FLAG_PRIORITY | 4, 1, '1234'],
    code: FRAME_SIZE_ERROR,
  },
  { title: 'PRIORITY on stream 0', frame: [PRIORITY, 0, 0, '12345'], code: PROTOCOL_ERROR },
  {
    title: 'PRIORITY of 4 bytes on an idle stream',
    frame: [PRIORITY, 0, 99, '1234'],
    code: FRAME_SIZE_ERROR,
  },
  { title: 'RST_STREAM on stream 0', frame: [RST_STREAM, 0, 0, uint32(8)], code: PROTOCOL_ERROR },
  { title: 'RST_STREAM of 3 bytes', frame: [RST_STREAM, 0, 1, '123'], code: FRAME_SIZE_ERROR },
  { title: 'RST_STREAM of 5 bytes', frame: [RST_STREAM, 0, 1, '12345'], code: FRAME_SIZE_ERROR },
  { title: 'SETTINGS on a stream', frame: [SETTINGS, 0, 1, ''], code: PROTOCOL_ERROR },
  { title: 'SETTINGS of 5 bytes', frame: [SETTINGS, 0, 0, '12345'], code: FRAME_SIZE_ERROR },
  {
    title: 'SETTINGS acknowledgement with a payload',
    frame: [SETTINGS, FLAG_ACK, 0, '123456'],
    code: FRAME_SIZE_ERROR,
  },
  { title: 'PUSH_PROMISE on stream 0', frame: [PUSH_PROMISE, 4, 0, uint32(2)], code: PROTOCOL_ERROR },
  { title: 'PUSH_PROMISE (CVE-2024-2398)', frame: [PUSH_PROMISE, 4, 1, uint32(2)], code: PROTOCOL_ERROR },
  { title: 'PING on a stream', frame: [PING, 0, 1, '12345678'], code: PROTOCOL_ERROR },
  { title: 'PING of 7 bytes', frame: [PING, 0, 0, '1234567'], code: FRAME_SIZE_ERROR },
  { title: 'PING of 9 bytes', frame: [PING, FLAG_ACK, 0, '123456789'], code: FRAME_SIZE_ERROR },
  { title: 'GOAWAY on a stream', frame: [GOAWAY, 0, 1, uint32(1, 0)], code: PROTOCOL_ERROR },
  { title: 'GOAWAY of 7 bytes', frame: [GOAWAY, 0, 0, '1234567'], code: FRAME_SIZE_ERROR },
  { title: 'WINDOW_UPDATE of 3 bytes', frame: [WINDOW_UPDATE, 0, 0, '123'], code: FRAME_SIZE_ERROR },
  {
    title: 'WINDOW_UPDATE of 0 for the connection',
    frame: [WINDOW_UPDATE, 0, 0, uint32(0)],
    code: PROTOCOL_ERROR,
  },
  {
    title: 'WINDOW_UPDATE of 0 on an idle stream',
    frame: [WINDOW_UPDATE, 0, 99, uint32(0)],
    code: PROTOCOL_ERROR,
  },
  { title: 'CONTINUATION without HEADERS', frame: [CONTINUATION, 4, 1, ''], code: PROTOCOL_ERROR },
  { title: 'CONTINUATION on stream 0', frame: [CONTINUATION, 4, 0, ''], code: PROTOCOL_ERROR },
  {
    title: 'a frame above SETTINGS_MAX_FRAME_SIZE',
    frame: [DATA, 0, 1, Buffer.alloc(16_385)],
    code: FRAME_SIZE_ERROR,
  },
  {
    title: 'an unknown frame above SETTINGS_MAX_FRAME_SIZE',
    frame: [0x42, 0, 1, Buffer.alloc(16_385)],
    code: FRAME_SIZE_ERROR,
  },
]

describe('frames that end the connection', () => {
  for (const { title, frame, code } of FATAL) {
    test(title, () => {
      const peer = open()
      peer.sendFrame(...frame)
      peer.wantFailure(code)
      assert.equal(peer.heard.filter((line) => line.startsWith('reset 1')).length, 1)
    })
  }
})

describe('frames that end their stream', () => {
  test('WINDOW_UPDATE of 0', () => {
    const peer = open()
    peer.sendWindowUpdate(1, 0)
    assert.deepEqual(peer.heard, ['reset 1 stream peer PROTOCOL_ERROR', 'closed 1'])
    peer.wantReset(1, PROTOCOL_ERROR)
  })

  test('PRIORITY of another size than 5', () => {
    for (const payload of ['', '1234', '123456']) {
      const peer = open()
      peer.sendFrame(PRIORITY, 0, 1, payload)
      assert.deepEqual(peer.heard, ['reset 1 stream peer FRAME_SIZE_ERROR', 'closed 1'])
      peer.wantReset(1, FRAME_SIZE_ERROR)
      peer.sendPing('12345678')
      peer.wantPing(true)
    }
  })

  test('the same on a closed stream', () => {
    const peer = open()
    peer.sendData(1, '', true)
    peer.sendWindowUpdate(1, 0)
    peer.wantReset(1, PROTOCOL_ERROR)
    assert.equal(peer.engine.isClosed, false)
  })
})

describe('frames that are ignored', () => {
  test('PRIORITY on any stream, idle ones too', () => {
    const peer = open()
    peer.sendPriority(1)
    peer.sendPriority(99)
    peer.sendPriority(2)
    peer.wantNothing()
    assert.deepEqual(peer.heard, [])
  })

  test('ALTSVC, ORIGIN, PRIORITY_UPDATE and unknown types, with and without payload, in pieces', () => {
    const peer = open()
    for (const type of [0x0a, 0x0c, 0x10, 0xff]) {
      peer.sendFrame(type, 0xff, 0, '')
      peer.sendFrame(type, 0xff, 1, 'x'.repeat(1000))
      peer.sendFrame(type, 0, 99, 'y')
    }
    peer.sendBytes(Buffer.from([0, 0, 5, 0x99, 0, 0, 0, 0, 0, 1, 2]))
    peer.sendBytes(Buffer.from([3, 4]))
    peer.sendBytes(Buffer.from([5]))
    peer.wantNothing()
    peer.sendData(1, 'still in step', true)
    assert.deepEqual(peer.heard, ['data 1 still in step', 'end 1', 'closed 1'])
  })

  test('undefined flags and the reserved bit', () => {
    const peer = open()
    peer.sendFrame(DATA, 0xf6, 0x80000001, 'x')
    peer.sendFrame(PING, 0xfe, 0x80000000, '12345678')
    assert.equal(peer.wantPing(true), '12345678')
    peer.sendFrame(WINDOW_UPDATE, 0xff, 1, uint32(0x80000001))
    assert.deepEqual(peer.heard, ['data 1 x'])
  })
})

describe('the first frame', () => {
  for (const [title, type, flags, payload, code] of [
    [
      'SETTINGS acknowledgement with a payload (RFC 9113 §6.5)',
      SETTINGS,
      FLAG_ACK,
      '123456',
      FRAME_SIZE_ERROR,
    ],
    ['SETTINGS of 5 bytes', SETTINGS, 0, '12345', FRAME_SIZE_ERROR],
    ['SETTINGS acknowledgement', SETTINGS, FLAG_ACK, '', PROTOCOL_ERROR],
    ['PING of 7 bytes', PING, 0, '1234567', FRAME_SIZE_ERROR],
    ['PING', PING, 0, '12345678', PROTOCOL_ERROR],
  ] as const) {
    test(title, () => {
      const peer = new FramePeer()
      peer.sendFrame(type, flags, 0, payload)
      peer.wantFailure(code)
    })
  }
})

describe('the frames of a header block', () => {
  for (const [title, send] of [
    ['DATA', (peer: FramePeer) => peer.sendData(1, 'x')],
    ['HEADERS', (peer: FramePeer) => peer.sendFrame(HEADERS, 4, 1, '\x88')],
    [
      'CONTINUATION of another stream',
      (peer: FramePeer) => peer.sendContinuation(3, Buffer.from('\x88'), true),
    ],
    ['an unknown frame', (peer: FramePeer) => peer.sendFrame(0x42, 0, 1, '')],
    ['PRIORITY', (peer: FramePeer) => peer.sendPriority(1)],
    ['WINDOW_UPDATE', (peer: FramePeer) => peer.sendWindowUpdate(0, 1)],
    ['RST_STREAM', (peer: FramePeer) => peer.sendReset(1, 8)],
  ] as const) {
    test(`must not be interrupted by ${title}`, () => {
      const peer = FramePeer.ready()
      peer.request()
      peer.sendFrame(HEADERS, 0, 1, '\x88')
      send(peer)
      peer.wantFailure(PROTOCOL_ERROR)
    })
  }
})
