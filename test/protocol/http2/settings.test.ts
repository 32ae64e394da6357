import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  ENHANCE_YOUR_CALM,
  FLOW_CONTROL_ERROR,
  HEADERS,
  PROTOCOL_ERROR,
  SETTINGS_ENABLE_CONNECT_PROTOCOL,
  SETTINGS_ENABLE_PUSH,
  SETTINGS_HEADER_TABLE_SIZE,
  SETTINGS_INITIAL_WINDOW_SIZE,
  SETTINGS_MAX_CONCURRENT_STREAMS,
  SETTINGS_MAX_FRAME_SIZE,
  SETTINGS_MAX_HEADER_LIST_SIZE,
} from '../../../src/protocol/http2/constants.ts'
import { CONNECT_PROTOCOL_WITHDRAWN } from '../../../src/protocol/http2/settings.ts'
import { FramePeer, GET, POST } from '../../support/frame-peer.ts'

test('SETTINGS are applied, acknowledged and reported', () => {
  const peer = new FramePeer()
  peer.frames()
  assert.equal(peer.engine.remoteSettings.isReceived, false)
  peer.sendSettings([
    [SETTINGS_MAX_CONCURRENT_STREAMS, 7],
    [SETTINGS_INITIAL_WINDOW_SIZE, 1000],
    [SETTINGS_MAX_FRAME_SIZE, 20_000],
    [SETTINGS_MAX_HEADER_LIST_SIZE, 5000],
    [SETTINGS_ENABLE_CONNECT_PROTOCOL, 1],
    [SETTINGS_ENABLE_PUSH, 0],
    [0x1a2a, 99],
  ])
  assert.deepEqual(peer.heard, ['settings 7 1000 20000'])
  peer.wantSettingsAck()
  peer.wantNothing()
  const remote = peer.engine.remoteSettings
  assert.equal(remote.isReceived, true)
  assert.equal(remote.enableConnectProtocol, true)
})

test('the last value of a setting in a frame holds', () => {
  const peer = FramePeer.ready()
  peer.sendSettings([
    [SETTINGS_INITIAL_WINDOW_SIZE, 5],
    [SETTINGS_INITIAL_WINDOW_SIZE, 9],
  ])
  assert.equal(peer.engine.remoteSettings.initialWindowSize, 9)
})

test('an acknowledgement of nothing is a connection error', () => {
  const peer = FramePeer.ready()
  peer.sendSettingsAck()
  peer.wantFailure(PROTOCOL_ERROR)
})

describe('SETTINGS_MAX_CONCURRENT_STREAMS', () => {
  test('streams may be opened before the first SETTINGS, up to our own limit', () => {
    const peer = new FramePeer({ maxConcurrentStreams: 2 })
    assert.equal(peer.engine.freeStreams, 2)
    peer.open()
    peer.open()
    assert.equal(peer.engine.freeStreams, 0)
    peer.sendSettings()
    assert.equal(peer.engine.freeStreams, 0)
  })

  test("the server's value replaces ours, also later, also 0", () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 2 }, [[SETTINGS_MAX_CONCURRENT_STREAMS, 5]])
    assert.equal(peer.engine.freeStreams, 5)
    for (let i = 0; i < 3; i++) peer.request()
    assert.equal(peer.engine.freeStreams, 2)
    peer.sendSettings([[SETTINGS_MAX_CONCURRENT_STREAMS, 1]])
    assert.equal(peer.engine.freeStreams, 0)
    peer.sendHead(1, 200, true)
    peer.sendHead(3, 200, true)
    assert.equal(peer.engine.freeStreams, 0)
    peer.sendHead(5, 200, true)
    assert.equal(peer.engine.freeStreams, 1)
    peer.sendSettings([[SETTINGS_MAX_CONCURRENT_STREAMS, 0]])
    assert.equal(peer.engine.freeStreams, 0)
    assert.equal(peer.engine.canOpen, true)
    peer.sendSettings([[SETTINGS_MAX_CONCURRENT_STREAMS, 3]])
    assert.equal(peer.engine.freeStreams, 3)
  })

  test('4294967295 means that no limit was set', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 2 }, [[SETTINGS_MAX_CONCURRENT_STREAMS, 0xffffffff]])
    assert.equal(peer.engine.freeStreams, 2)
    assert.equal(peer.engine.remoteSettings.maxConcurrentStreams, null)
  })

  test('a stream that the peer has reset no longer counts', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 1 })
    const stream = peer.request()
    assert.equal(peer.engine.freeStreams, 0)
    peer.sendReset(stream.id, 8)
    assert.equal(peer.engine.freeStreams, 1)
  })
})

describe('SETTINGS_INITIAL_WINDOW_SIZE', () => {
  test('holds for streams opened later', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 3]])
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.from('hello'), true)
    assert.deepEqual(peer.wantData(1), { text: 'hel', endStream: false })
    peer.wantNothing()
  })

  test('raises the windows of open streams', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 3]])
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.from('hello'), true)
    assert.deepEqual(peer.wantData(1), { text: 'hel', endStream: false })
    peer.sendSettings([[SETTINGS_INITIAL_WINDOW_SIZE, 4]])
    peer.wantSettingsAck()
    assert.deepEqual(peer.wantData(1), { text: 'l', endStream: false })
    peer.sendSettings([[SETTINGS_INITIAL_WINDOW_SIZE, 100]])
    peer.wantSettingsAck()
    assert.deepEqual(peer.wantData(1), { text: 'o', endStream: true })
  })

  test('may make windows negative; then updates must first pay the debt (RFC 9113 §6.9.2)', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 10]])
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.from('0123456789abcdef'), true)
    assert.equal(peer.wantData(1).text, '0123456789')
    peer.sendSettings([[SETTINGS_INITIAL_WINDOW_SIZE, 4]])
    peer.wantSettingsAck()
    peer.sendWindowUpdate(1, 6)
    peer.wantNothing()
    peer.sendWindowUpdate(1, 2)
    assert.deepEqual(peer.wantData(1), { text: 'ab', endStream: false })
    peer.sendWindowUpdate(1, 100)
    assert.deepEqual(peer.wantData(1), { text: 'cdef', endStream: true })
  })

  test('lowered before queued data went out: nothing is sent beyond it', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 10]])
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.from('0123456789'), true)
    peer.sendSettings([[SETTINGS_INITIAL_WINDOW_SIZE, 0]])
    peer.wantSettingsAck()
    peer.wantNothing()
    assert.equal(peer.engine.wantsOutput, false)
    peer.sendSettings([[SETTINGS_INITIAL_WINDOW_SIZE, 10]])
    peer.wantSettingsAck()
    assert.deepEqual(peer.wantData(1), { text: '0123456789', endStream: true })
  })

  test('above 2^31-1 is a connection error', () => {
    const peer = FramePeer.ready()
    peer.sendSettings([[SETTINGS_INITIAL_WINDOW_SIZE, 0x80000000]])
    peer.wantFailure(FLOW_CONTROL_ERROR)
  })

  test('that lifts a stream above 2^31-1 is a connection error', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 10]])
    peer.request(POST, false)
    peer.sendWindowUpdate(1, 0x7fffffff - 10)
    peer.sendSettings([[SETTINGS_INITIAL_WINDOW_SIZE, 11]])
    peer.wantFailure(FLOW_CONTROL_ERROR)
  })
})

describe('SETTINGS_MAX_FRAME_SIZE', () => {
  test('limits what we send, from one frame to the next', () => {
    const peer = FramePeer.ready()
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.alloc(16_385), false)
    assert.equal(peer.wantData(1).text.length, 16_384)
    assert.equal(peer.wantData(1).text.length, 1)
    peer.sendSettings([[SETTINGS_MAX_FRAME_SIZE, 20_000]])
    peer.wantSettingsAck()
    peer.engine.send(stream, Buffer.alloc(20_001), false)
    assert.equal(peer.wantData(1).text.length, 20_000)
    assert.equal(peer.wantData(1).text.length, 1)
  })

  test('is not used beyond a fair share', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_MAX_FRAME_SIZE, 16_777_215]])
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.alloc(60_000), false)
    assert.equal(peer.wantData(1).text.length, 32_768)
    assert.equal(peer.wantData(1).text.length, 60_000 - 32_768)
  })

  test('must lie between 2^14 and 2^24-1', () => {
    for (const size of [0, 16_383, 16_777_216, 0xffffffff]) {
      const peer = FramePeer.ready()
      peer.sendSettings([[SETTINGS_MAX_FRAME_SIZE, size]])
      peer.wantFailure(PROTOCOL_ERROR)
    }
  })
})

test('SETTINGS_HEADER_TABLE_SIZE reaches the encoder before the next block', () => {
  const peer = FramePeer.ready()
  const fields = [...GET, 'x-often', 'the same every time']
  for (let i = 0; i < 3; i++) {
    peer.open(fields, true)
    peer.wantHeaders(1 + 2 * i)
  }
  assert.ok(peer.decoder.tableSize > 0)
  peer.decoder.setMaxTableSize(0)
  peer.sendSettings([[SETTINGS_HEADER_TABLE_SIZE, 0]])
  peer.wantSettingsAck()
  peer.open(fields, true)
  assert.deepEqual(peer.wantHeaders(7).fields, fields)
  assert.equal(peer.decoder.tableSize, 0)
})

describe('SETTINGS_ENABLE_PUSH from a server', () => {
  test('may be 0 only', () => {
    for (const value of [1, 2]) {
      const peer = FramePeer.ready()
      peer.sendSettings([[SETTINGS_ENABLE_PUSH, value]])
      peer.wantFailure(PROTOCOL_ERROR)
    }
  })
})

describe('SETTINGS_ENABLE_CONNECT_PROTOCOL', () => {
  test('may come later, but not be taken back (RFC 8441 §3)', () => {
    const peer = FramePeer.ready()
    peer.sendSettings([[SETTINGS_ENABLE_CONNECT_PROTOCOL, 0]])
    assert.equal(peer.engine.remoteSettings.enableConnectProtocol, false)
    peer.sendSettings([[SETTINGS_ENABLE_CONNECT_PROTOCOL, 1]])
    peer.sendSettings([[SETTINGS_ENABLE_CONNECT_PROTOCOL, 1]])
    assert.equal(peer.engine.remoteSettings.enableConnectProtocol, true)
    peer.sendSettings([[SETTINGS_ENABLE_CONNECT_PROTOCOL, 0]])
    assert.equal(
      peer.wantFailure(PROTOCOL_ERROR, CONNECT_PROTOCOL_WITHDRAWN),
      'Server disabled extended CONNECT protocol against RFC-8441',
    )
  })

  test('is 0 or 1', () => {
    const peer = FramePeer.ready()
    peer.sendSettings([[SETTINGS_ENABLE_CONNECT_PROTOCOL, 2]])
    peer.wantFailure(PROTOCOL_ERROR)
  })

  test('an extended CONNECT goes out with all pseudo fields', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_ENABLE_CONNECT_PROTOCOL, 1]])
    const fields = [
      ':method',
      'CONNECT',
      ':scheme',
      'http',
      ':authority',
      'a',
      ':path',
      '/',
      ':protocol',
      'websocket',
    ]
    const stream = peer.open(fields, false)
    assert.deepEqual(peer.wantHeaders(1).fields, fields)
    peer.sendHead(1, 200)
    peer.sendData(1, 'frame')
    peer.engine.send(stream, Buffer.from('frame'), false)
    peer.wantData(1)
    assert.deepEqual(peer.heard, ['head 1 200', 'data 1 frame'])
  })
})

test('too many entries in one frame end the connection (CVE-2020-11080)', () => {
  const peer = FramePeer.ready()
  peer.sendSettings(Array.from({ length: 64 }, () => [0xff, 0] as const))
  assert.equal(peer.engine.isClosed, false)
  peer.sendSettings(Array.from({ length: 65 }, () => [0xff, 0] as const))
  assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /64 entries/)
})

test('the first frame must be SETTINGS', () => {
  const peer = new FramePeer()
  peer.frames()
  peer.sendPing('12345678')
  assert.match(peer.wantFailure(PROTOCOL_ERROR), /not SETTINGS$/)
  const acking = new FramePeer()
  acking.frames()
  acking.sendSettingsAck()
  acking.wantFailure(PROTOCOL_ERROR)
})

test('a server that answers in HTTP/1.1 is recognised', () => {
  const peer = new FramePeer()
  peer.open()
  peer.frames()
  peer.sendBytes(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))
  assert.deepEqual(peer.sink.lines[0], 'reset 1 connection peer PROTOCOL_ERROR')
  assert.match(peer.wantFailure(PROTOCOL_ERROR), /HTTP\/1\.x/)
})

test('settings in mid-flight do not disturb the order of frames', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendFrame(HEADERS, 0, 1, peer.block([':status', '200']))
  peer.sendSettings()
  assert.match(peer.wantFailure(PROTOCOL_ERROR), /interrupted/)
})
