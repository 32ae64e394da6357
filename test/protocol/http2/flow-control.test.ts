import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CANCEL,
  FLOW_CONTROL_ERROR,
  SETTINGS_INITIAL_WINDOW_SIZE,
  WINDOW_UPDATE,
} from '../../../src/protocol/http2/constants.ts'
import { FramePeer, POST } from '../../support/frame-peer.ts'

describe('sending', () => {
  test('stops at the stream window and goes on with its update', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 4]])
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.from('abcdefgh'), true)
    assert.deepEqual(peer.wantData(1), { text: 'abcd', endStream: false })
    peer.wantNothing()
    assert.equal(stream.queue.bytes, 4)
    peer.sendWindowUpdate(1, 1)
    assert.deepEqual(peer.wantData(1), { text: 'e', endStream: false })
    peer.sendWindowUpdate(1, 1000)
    assert.deepEqual(peer.wantData(1), { text: 'fgh', endStream: true })
  })

  test('stops at the connection window and goes on with its update', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 1_000_000]])
    const one = peer.request(POST, false)
    const two = peer.request(POST, false)
    peer.engine.send(one, Buffer.alloc(65_535), false)
    peer.engine.send(two, Buffer.from('waits'), true)
    let sent = 0
    for (const frame of peer.frames()) sent += frame.payload.length
    assert.equal(sent, 65_535)
    peer.wantNothing()
    peer.sendWindowUpdate(0, 10)
    sent = 0
    for (const frame of peer.frames()) sent += frame.payload.length
    assert.equal(sent, 5, 'the rest of the two bodies')
    assert.equal(one.queue.bytes + two.queue.bytes, 0)
  })

  test('bytes whose memory is given away while they wait: the stream is told of, and nothing of them goes out', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 6]])
    const one = peer.request(POST, false)
    const two = peer.request(POST, false)
    const gone = new Uint8Array(4)
    peer.engine.send(one, Buffer.from('abcd'), false)
    peer.engine.send(one, gone, true)
    peer.engine.send(two, Buffer.from('x'), true)
    structuredClone(gone.buffer, { transfer: [gone.buffer] })
    // The first frame would take two bytes of what is gone.
    assert.deepEqual(peer.wantData(3), { text: 'x', endStream: true })
    assert.ok(peer.heard.includes('spoiled 1'))
    peer.wantNothing()
    peer.engine.reset(one, CANCEL)
    peer.wantReset(1, CANCEL)
  })

  test('an end without bytes needs no window', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 1_000_000]])
    const one = peer.request(POST, false)
    const two = peer.request(POST, false)
    const three = peer.request(POST, false)
    peer.engine.send(one, Buffer.alloc(65_536), false)
    peer.frames()
    assert.equal(one.queue.bytes, 1)
    peer.engine.send(two, new Uint8Array(0), true)
    peer.engine.sendTrailers(three, ['a', 'b'])
    assert.deepEqual(peer.wantData(3), { text: '', endStream: true })
    assert.equal(peer.wantHeaders(5).endStream, true)
  })

  test('takes turns between streams, frame by frame', () => {
    const peer = FramePeer.ready()
    const streams = [1, 2, 3].map(() => peer.request(POST, false))
    for (const stream of streams) peer.engine.send(stream, Buffer.alloc(20_000), true)
    const order = peer.frames().map((frame) => `${frame.streamId}:${frame.payload.length}`)
    assert.deepEqual(order, ['1:16384', '3:16384', '5:16384', '1:3616', '3:3616', '5:3616'])
  })

  test('joins small chunks into one frame', () => {
    const peer = FramePeer.ready()
    const stream = peer.request(POST, false)
    for (let i = 0; i < 200; i++) peer.engine.send(stream, Buffer.from(`${i},`), i === 199)
    const { text, endStream } = peer.wantData(1)
    assert.equal(text.split(',').length, 201)
    assert.equal(endStream, true)
    peer.wantNothing()
  })

  test('refers to large chunks instead of copying them', () => {
    const peer = FramePeer.ready()
    const stream = peer.request(POST, false)
    const chunk = Buffer.alloc(3 * 16_384, 'x')
    peer.engine.send(stream, chunk, true)
    const output = peer.engine.takeOutput()!
    const referenced = output.filter((part) => part.buffer === chunk.buffer)
    assert.equal(
      referenced.reduce((sum, part) => sum + part.length, 0),
      3 * 16_384,
    )
  })

  test('asks to wait when much is queued, and says when to go on', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 0]])
    const stream = peer.request(POST, false)
    assert.equal(peer.engine.send(stream, Buffer.alloc(131_072), false), true)
    assert.equal(peer.engine.send(stream, Buffer.alloc(1), false), false)
    peer.wantNothing()
    peer.sendWindowUpdate(0, 1_000_000)
    peer.sendWindowUpdate(1, 60_000)
    peer.frames()
    assert.deepEqual(peer.heard, [])
    peer.sendWindowUpdate(1, 20_000)
    peer.frames()
    assert.deepEqual(peer.heard, ['writable 1'])
    peer.sendWindowUpdate(1, 20_000)
    peer.frames()
    assert.deepEqual(peer.heard, [])
  })

  test('does not ask for more once the body is complete', () => {
    const peer = FramePeer.ready()
    const stream = peer.request(POST, false)
    assert.equal(peer.engine.send(stream, Buffer.alloc(200_000), true), true)
    peer.sendWindowUpdate(0, 1_000_000)
    peer.sendWindowUpdate(1, 1_000_000)
    peer.frames()
    assert.deepEqual(peer.heard, [])
  })

  test('frames a bounded amount at a time, with control frames in between', () => {
    const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 0x7fffffff]])
    peer.sendWindowUpdate(0, 0x7fffffff - 65_535)
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.alloc(1_000_000), true)
    const first = peer.engine.takeOutput()!
    const bytes = first.reduce((sum, part) => sum + part.length, 0)
    assert.ok(bytes < 300_000, `${bytes} bytes at once`)
    assert.equal(peer.engine.wantsOutput, true)
    peer.sendPing('12345678')
    assert.equal(peer.wantPing(true), '12345678')
    peer.wantData(1)
  })

  test('WINDOW_UPDATE above 2^31-1 costs the stream', () => {
    const peer = FramePeer.ready()
    peer.request(POST, false)
    peer.request()
    peer.sendWindowUpdate(1, 0x7fffffff)
    assert.deepEqual(peer.heard, ['reset 1 stream peer FLOW_CONTROL_ERROR', 'closed 1'])
    peer.wantReset(1, FLOW_CONTROL_ERROR)
    assert.equal(peer.engine.streams.size, 1)
  })

  test('WINDOW_UPDATE above 2^31-1 for the connection costs the connection (CVE-2026-21714)', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendWindowUpdate(0, 0x7fffffff)
    assert.deepEqual(peer.sink.lines, [
      'reset 1 connection peer FLOW_CONTROL_ERROR',
      'closed 1',
      'failure peer FLOW_CONTROL_ERROR',
    ])
    peer.wantFailure(FLOW_CONTROL_ERROR)
  })

  test('WINDOW_UPDATE after the request is complete is ignored', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendWindowUpdate(1, 100)
    peer.wantNothing()
    assert.deepEqual(peer.heard, [])
  })

  test('a stream that waits for the connection window can be reset', () => {
    const peer = FramePeer.ready()
    const streams = [1, 2, 3].map(() => peer.request(POST, false))
    peer.engine.send(streams[0]!, Buffer.alloc(65_535), false)
    peer.frames()
    for (const stream of streams) peer.engine.send(stream, Buffer.from(`${stream.id}`), true)
    peer.wantNothing()
    peer.engine.reset(streams[1]!, CANCEL)
    assert.equal(streams[1]!.listedIn, null, 'a peer that opens no window must not make us keep it')
    peer.wantReset(3, CANCEL)
    peer.sendWindowUpdate(0, 100)
    peer.sendWindowUpdate(1, 100)
    assert.deepEqual(
      peer.frames().map((frame) => frame.payload.toString()),
      ['5', '1'],
    )
  })
})

describe('receiving', () => {
  test('DATA beyond the stream window costs the stream; its bytes are given back to the connection', () => {
    const peer = FramePeer.ready({ initialWindowSize: 10, connectionWindowSize: 65_535 })
    peer.request()
    peer.sendHead(1, 200)
    peer.sendData(1, '0123456789')
    peer.sendData(1, 'x')
    assert.deepEqual(peer.heard, [
      'head 1 200',
      'data 1 0123456789',
      'reset 1 stream peer FLOW_CONTROL_ERROR',
      'closed 1',
    ])
    peer.wantReset(1, FLOW_CONTROL_ERROR)
  })

  test('DATA beyond the connection window costs the connection', () => {
    const peer = FramePeer.ready({ initialWindowSize: 1_000_000, connectionWindowSize: 1 })
    peer.request()
    peer.sendHead(1, 200)
    // 65535 were announced by the protocol itself; with a wanted window of 1 nothing is given back before.
    for (let i = 0; i < 4; i++) peer.sendData(1, Buffer.alloc(16_383))
    peer.sendData(1, Buffer.alloc(16_384))
    assert.match(peer.wantFailure(FLOW_CONTROL_ERROR), /connection window/)
  })

  test('a connection window smaller than the default is kept to once the default is used up', () => {
    const peer = FramePeer.ready({ initialWindowSize: 1_000_000, connectionWindowSize: 1000 })
    peer.request()
    peer.sendHead(1, 200)
    for (let i = 0; i < 4; i++) peer.sendData(1, Buffer.alloc(16_000))
    peer.wantNothing()
    peer.sendData(1, Buffer.alloc(1535))
    assert.equal(peer.wantWindowUpdate(0), 1000)
  })

  test('padding counts, and is given back at once', () => {
    const peer = FramePeer.ready({ initialWindowSize: 200 })
    const stream = peer.request()
    peer.sendHead(1, 200)
    peer.sendPaddedData(1, 'abc', 150)
    assert.deepEqual(peer.heard, ['head 1 200', 'data 1 abc'])
    assert.equal(peer.wantWindowUpdate(1), 151)
    peer.sendPaddedData(1, '', 46)
    peer.engine.release(stream, 3)
    assert.equal(peer.wantWindowUpdate(1), 50)
  })

  test('a consumer that stops reading holds its own stream and no other', () => {
    const peer = FramePeer.ready({ initialWindowSize: 65_535, connectionWindowSize: 65_535 })
    peer.sink.countsData = true
    peer.request()
    const reading = peer.request()
    peer.sendHead(1, 200)
    peer.sendHead(3, 200)
    let connection = 65_535
    const send = (id: number, bytes: number) => {
      peer.sendData(id, Buffer.alloc(bytes))
      connection -= bytes
      for (const frame of peer.frames()) {
        if (frame.type === WINDOW_UPDATE && frame.streamId === 0) connection += frame.payload.readUInt32BE(0)
      }
    }
    for (let i = 0; i < 5; i++) send(1, 13_107)
    assert.ok(connection >= 32_767, 'the stalled stream holds nothing of the connection')
    for (let i = 0; i < 50; i++) {
      send(3, 10_000)
      peer.engine.release(reading, 10_000)
      assert.ok(connection > 0)
    }
  })

  test('DATA on reset streams is given back to the connection', () => {
    const peer = FramePeer.ready({ connectionWindowSize: 65_535 })
    const stream = peer.request()
    peer.sendHead(1, 200)
    peer.engine.reset(stream, CANCEL)
    peer.wantReset(1, CANCEL)
    peer.sendData(1, Buffer.alloc(10_000))
    peer.wantNothing()
    peer.sendData(1, Buffer.alloc(10_000))
    assert.equal(peer.wantWindowUpdate(0), 20_000)
  })

  test('a frame under way when its stream is reset is dropped, and given back', () => {
    const peer = FramePeer.ready({ connectionWindowSize: 65_535 })
    const stream = peer.request()
    peer.sendHead(1, 200)
    const frame = Buffer.alloc(9 + 16_384, 'x')
    frame.set([0, 0x40, 0, 0, 1, 0, 0, 0, 1])
    peer.sendBytes(frame.subarray(0, 20))
    peer.engine.reset(stream, CANCEL)
    assert.deepEqual(peer.heard, ['head 1 200', 'data 1 xxxxxxxxxxx', 'closed 1'])
    peer.sendBytes(frame.subarray(20, 30))
    peer.sendBytes(frame.subarray(30))
    assert.deepEqual(peer.heard, [])
    peer.wantReset(1, CANCEL)
    assert.equal(peer.wantWindowUpdate(0), 16_384)
  })

  test('windows of one byte work', () => {
    const peer = FramePeer.ready({ initialWindowSize: 1 })
    const stream = peer.request()
    peer.sendHead(1, 200)
    for (const letter of 'abc') {
      peer.sendData(1, letter)
      peer.engine.release(stream, 1)
      assert.equal(peer.wantWindowUpdate(1), 1)
    }
    assert.deepEqual(peer.heard, ['head 1 200', 'data 1 a', 'data 1 b', 'data 1 c'])
  })
})

describe('window growth', () => {
  /** Lets the server send as fast as the windows allow, one window per round trip. */
  function download(
    peer: FramePeer,
    roundTrips: number,
    consumes: boolean,
  ): { stream: number; connection: number } {
    const stream = peer.request()
    peer.sink.countsData = true
    peer.sendHead(1, 200)
    let streamWindow = 16_384
    let connectionWindow = 65_535
    let greatest = streamWindow
    let greatestConnection = connectionWindow
    for (let i = 0; i < roundTrips; i++) {
      peer.now += 100
      let budget = Math.min(streamWindow, connectionWindow)
      while (budget > 0) {
        const bytes = Math.min(16_384, budget)
        peer.sendData(1, Buffer.alloc(bytes))
        if (consumes) peer.engine.release(stream, bytes)
        budget -= bytes
        streamWindow -= bytes
        connectionWindow -= bytes
      }
      for (const frame of peer.frames()) {
        const increment = frame.payload.readUInt32BE(0)
        if (frame.streamId === 0) connectionWindow += increment
        else streamWindow += increment
      }
      greatest = Math.max(greatest, streamWindow)
      greatestConnection = Math.max(greatestConnection, connectionWindow)
    }
    return { stream: greatest, connection: greatestConnection }
  }

  const small = { initialWindowSize: 16_384, connectionWindowSize: 65_535 }

  test('windows stay as they are before a round trip was measured', () => {
    const peer = FramePeer.ready(small)
    assert.deepEqual(download(peer, 10, true), { stream: 16_384, connection: 65_535 })
  })

  test('windows grow with the bandwidth-delay product up to their caps', () => {
    const peer = FramePeer.ready({
      ...small,
      growth: { maxStreamWindow: 500_000, maxConnectionWindow: 700_000 },
    })
    peer.engine.growth.addRoundTrip(100)
    const { stream, connection } = download(peer, 30, true)
    assert.ok(stream > 375_000 && stream <= 500_000, `stream window of ${stream}`)
    assert.ok(connection > 525_000 && connection <= 700_000, `connection window of ${connection}`)
  })

  test('with its streams, that of a connection lets all of them begin at once', () => {
    const peer = FramePeer.ready({ growth: {}, maxConcurrentStreams: 1000 })
    let window = 524_288
    for (let streams = 1; streams <= 1000; streams++) {
      peer.request()
      for (const { type, streamId, payload } of peer.frames())
        if (type === WINDOW_UPDATE && streamId === 0) window += payload.readUInt32BE(0)
      assert.ok(window >= streams * 262_144, `${window} bytes with ${streams} streams`)
    }
    assert.ok(window <= 2 * 1000 * 262_144, `${window} bytes`)
  })

  test('that of a connection grows with those of its streams', () => {
    const growth = { maxStreamWindow: 500_000, maxConnectionWindow: 65_535 }
    const peer = FramePeer.ready({ ...small, growth })
    peer.engine.growth.addRoundTrip(100)
    const { stream, connection } = download(peer, 30, true)
    assert.ok(
      stream > 375_000 && connection >= stream,
      `${stream} bytes, and ${connection} of the connection`,
    )
  })

  test('not when the consumer does not keep up', () => {
    const peer = FramePeer.ready(small)
    peer.engine.growth.addRoundTrip(100)
    assert.equal(download(peer, 30, false).stream, 16_384)
  })

  test('not when the path, and not the window, is the limit', () => {
    const peer = FramePeer.ready(small)
    peer.engine.growth.addRoundTrip(1)
    assert.deepEqual(download(peer, 30, true), { stream: 16_384, connection: 65_535 })
  })

  test('the growth of all streams together is bounded, and freed with them', () => {
    const peer = FramePeer.ready({ ...small, growth: { maxTotalGrowth: 16_384 } })
    peer.engine.growth.addRoundTrip(100)
    assert.equal(download(peer, 20, true).stream, 32_768)
    const other = peer.request()
    peer.sendHead(3, 200)
    const grow = (): boolean => {
      let announced = 0
      for (let i = 0; i < 6; i++) {
        peer.now += 100
        peer.sendData(3, Buffer.alloc(16_384))
        peer.engine.release(other, 16_384)
        for (const frame of peer.frames())
          if (frame.streamId === 3) announced += frame.payload.readUInt32BE(0)
      }
      return announced > 6 * 16_384
    }
    assert.equal(grow(), false)
    peer.sendData(1, '', true)
    assert.equal(grow(), true)
  })
})
