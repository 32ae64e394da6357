import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CANCEL,
  DATA,
  ENHANCE_YOUR_CALM,
  HEADERS,
  NO_ERROR,
  SETTINGS_INITIAL_WINDOW_SIZE,
} from '../../../src/protocol/http2/constants.ts'
import { FramePeer, POST } from '../../support/frame-peer.ts'

/** Sends until the engine has had enough; returns how many it took. */
function flood(peer: FramePeer, send: (i: number) => void, most: number): number {
  let count = 0
  while (!peer.engine.isClosed && count < most) send(count++)
  return count
}

describe('a budget per ten seconds', () => {
  test('PING (CVE-2019-9512)', () => {
    const peer = FramePeer.ready({ abuse: { pings: 50 } })
    assert.equal(
      flood(peer, () => peer.sendPing('12345678'), 1000),
      51,
    )
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /more than 50 PING frames within 10 s/)
  })

  test('PING acknowledgements that nobody asked for', () => {
    const peer = FramePeer.ready({ abuse: { pings: 50 } })
    assert.equal(
      flood(peer, () => peer.sendPing('12345678', true), 1000),
      51,
    )
    peer.wantFailure(ENHANCE_YOUR_CALM)
  })

  test('SETTINGS (CVE-2019-9515)', () => {
    const peer = FramePeer.ready({ abuse: { settings: 50 } })
    flood(peer, () => peer.sendSettings(), 1000)
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /SETTINGS/)
  })

  test('GOAWAY', () => {
    const peer = FramePeer.ready({ abuse: { settings: 50 } })
    flood(peer, () => peer.sendGoaway(0, NO_ERROR), 1000)
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /GOAWAY/)
  })

  test('empty DATA (CVE-2019-9518)', () => {
    const peer = FramePeer.ready({ abuse: { emptyFrames: 50 } })
    peer.request()
    peer.sendHead(1, 200)
    assert.equal(
      flood(peer, () => peer.sendData(1, ''), 1000),
      51,
    )
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /empty frames/)
  })

  test('DATA that is only padding', () => {
    const peer = FramePeer.ready({ abuse: { emptyFrames: 50 } })
    peer.request()
    peer.sendHead(1, 200)
    flood(peer, () => peer.sendPaddedData(1, '', 10), 1000)
    peer.wantFailure(ENHANCE_YOUR_CALM)
  })

  test('empty HEADERS and CONTINUATION', () => {
    const peer = FramePeer.ready({ abuse: { emptyFrames: 50 } })
    peer.request()
    peer.sendFrame(HEADERS, 0, 1)
    assert.equal(
      flood(peer, () => peer.sendContinuation(1, Buffer.alloc(0), false), 1000),
      50,
    )
    peer.wantFailure(ENHANCE_YOUR_CALM)
    const other = FramePeer.ready({ abuse: { emptyFrames: 0 } })
    other.request()
    other.sendFrame(HEADERS, 0, 1)
    other.wantFailure(ENHANCE_YOUR_CALM)
  })

  test('PRIORITY, ORIGIN and unknown frames (CVE-2019-9513, CVE-2026-48619)', () => {
    const peer = FramePeer.ready({ abuse: { ignoredFrames: 50 } })
    const count = flood(
      peer,
      (i) => (i % 2 ? peer.sendPriority(1) : peer.sendFrame(0x0c, 0, 0, 'origin')),
      1000,
    )
    assert.equal(count, 51)
    peer.wantFailure(ENHANCE_YOUR_CALM)
  })

  test('resets by the peer (CVE-2023-44487)', () => {
    const peer = FramePeer.ready({ abuse: { peerResets: 50 } })
    const send = () => {
      peer.sendReset(peer.open().id, CANCEL)
    }
    assert.equal(flood(peer, send, 1000), 51)
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /reset by the peer/)
    assert.equal(peer.heard.filter((line) => line.startsWith('reset')).length, 51)
  })

  test('resets that the peer provokes (CVE-2025-8671)', () => {
    const peer = FramePeer.ready({ abuse: { provokedResets: 50 } })
    const send = () => {
      peer.sendData(peer.open().id, 'before the head')
    }
    assert.equal(flood(peer, send, 1000), 51)
    const lines = peer.sink.lines
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /stream errors caused by the peer/)
    assert.equal(lines.filter((line) => line.startsWith('reset')).length, 51)
  })

  test('resets that the peer provokes on closed streams', () => {
    const peer = FramePeer.ready({ abuse: { provokedResets: 5 } })
    for (let i = 0; i < 10; i++) peer.sendReset(peer.request().id, CANCEL)
    assert.equal(
      flood(peer, (i) => peer.sendData(1 + 2 * i, 'x'), 10),
      6,
    )
    peer.wantFailure(ENHANCE_YOUR_CALM)
  })

  test('frames on closed streams', () => {
    const peer = FramePeer.ready({ abuse: { lateFrames: 50 } })
    const stream = peer.request()
    peer.engine.reset(stream, CANCEL)
    assert.equal(
      flood(peer, () => peer.sendWindowUpdate(1, 1), 1000),
      51,
    )
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /closed streams/)
  })

  test('DATA of a cancelled download is no flood', () => {
    const peer = FramePeer.ready({ abuse: { lateFrames: 5 } })
    const stream = peer.request()
    peer.engine.reset(stream, CANCEL)
    for (let i = 0; i < 100; i++) peer.sendData(1, 'x'.repeat(1000))
    assert.equal(peer.engine.isClosed, false)
  })

  test('WINDOW_UPDATE without progress', () => {
    const peer = FramePeer.ready({ abuse: { idleWindowUpdates: 50 } })
    peer.request()
    assert.equal(
      flood(peer, (i) => peer.sendWindowUpdate(i % 2, 1), 1000),
      51,
    )
    assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /WINDOW_UPDATE/)
  })

  test('WINDOW_UPDATE byte by byte (CVE-2019-9511)', () => {
    const peer = FramePeer.ready({ abuse: { idleWindowUpdates: 50 } }, [[SETTINGS_INITIAL_WINDOW_SIZE, 0]])
    const stream = peer.request(POST, false)
    peer.engine.send(stream, Buffer.alloc(10_000), true)
    const send = () => {
      peer.sendWindowUpdate(1, 1)
      peer.frames()
    }
    assert.equal(flood(peer, send, 1000), 51)
  })

  test('updates that answer small requests are no flood', () => {
    const peer = FramePeer.ready({ abuse: { idleWindowUpdates: 50 } })
    for (let i = 0; i < 200; i++) {
      const stream = peer.request(POST, false)
      peer.engine.send(stream, Buffer.from('tiny'), true)
      peer.wantData(stream.id)
      peer.sendWindowUpdate(0, 4)
      peer.sendWindowUpdate(stream.id, 4)
      peer.sendHead(stream.id, 200, true)
    }
    assert.equal(peer.engine.isClosed, false)
  })

  test('starts afresh with the next ten seconds', () => {
    const peer = FramePeer.ready({ abuse: { pings: 50 } })
    for (let i = 0; i < 500; i++) {
      if (i % 50 === 0) peer.now += 10_000
      peer.sendPing('12345678')
      peer.frames()
    }
    assert.equal(peer.engine.isClosed, false)
  })
})

test('interim responses have no limit but their rate', () => {
  const peer = FramePeer.ready()
  peer.request()
  for (let window = 1; window <= 20; window++) {
    for (let i = 0; i < 256; i++) peer.sendHead(1, 102)
    peer.now += 10_000
  }
  peer.sink.take()
  peer.sendHead(1, 204, true)
  assert.deepEqual(peer.heard, ['head 1 204 (last)', 'end 1', 'closed 1'])
})

test('too many interim responses fail their stream', () => {
  const peer = FramePeer.ready()
  peer.request()
  for (let i = 0; i < 256; i++) peer.sendHead(1, 103)
  peer.sink.take()
  peer.sendHead(1, 103)
  assert.deepEqual(peer.heard, ['reset 1 stream peer ENHANCE_YOUR_CALM', 'closed 1'])
  peer.wantReset(1, ENHANCE_YOUR_CALM)
})

test('answers to a peer that does not read are bounded (CVE-2019-9517)', () => {
  const peer = FramePeer.ready({ abuse: { pings: 1_000_000 } })
  const bytes = Buffer.alloc(17 * 1000)
  for (let i = 0; i < 1000; i++) bytes.set([0, 0, 8, 6, 0, 0, 0, 0, 0], i * 17)
  assert.ok(flood(peer, () => peer.sendBytes(bytes), 1000) < 70)
  assert.match(peer.wantFailure(ENHANCE_YOUR_CALM), /control frames/)
})

test('SETTINGS to answer are bounded in the same way', () => {
  const peer = FramePeer.ready({ abuse: { settings: 1_000_000 } })
  const bytes = Buffer.alloc(9 * 1000)
  for (let i = 0; i < 1000; i++) bytes.set([0, 0, 0, 4, 0, 0, 0, 0, 0], i * 9)
  flood(peer, () => peer.sendBytes(bytes), 1000)
  assert.equal(peer.sink.lines.at(-1), 'failure peer ENHANCE_YOUR_CALM')
})

test('our own resets are not held against the peer', () => {
  const peer = FramePeer.ready({ abuse: { provokedResets: 5, peerResets: 5 } })
  for (let i = 0; i < 100; i++) peer.engine.reset(peer.open(), CANCEL)
  assert.equal(peer.engine.isClosed, false)
})

test('honest traffic in large amounts passes the default budgets', () => {
  const peer = FramePeer.ready()
  for (let i = 0; i < 3000; i++) {
    const stream = peer.open(POST, false)
    peer.engine.send(stream, Buffer.from('x'), true)
    if (i % 2) peer.pullAll()
    peer.sendHead(stream.id, 200)
    peer.sendData(stream.id, 'answer')
    peer.sendFrame(DATA, 1, stream.id)
    if (i % 10 === 0) peer.sendPing('12345678')
    peer.frames()
    peer.sendWindowUpdate(0, 1)
  }
  assert.equal(peer.engine.isClosed, false)
  peer.sendGoaway(0, NO_ERROR)
  assert.equal(peer.engine.streams.size, 0)
})
