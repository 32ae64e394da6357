/** A stream that we reset counts as open until the server must know of it (CVE-2023-44487). */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CANCEL, PING, RST_STREAM } from '../../../src/protocol/http2/constants.ts'
import { FramePeer, GET } from '../../support/frame-peer.ts'

/** Opens this many streams and resets them. */
function cancel(peer: FramePeer, count: number): void {
  const streams = Array.from({ length: count }, () => peer.open(GET))
  for (const stream of streams) peer.engine.reset(stream, CANCEL)
}

const opaque = (text: string): Buffer => Buffer.from(text.padEnd(8), 'latin1')

describe('streams that were reset', () => {
  test('count as open until a PING behind them is answered', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 3 })
    cancel(peer, 2)
    assert.deepEqual([peer.engine.streams.size, peer.engine.cancels.size, peer.engine.freeStreams], [0, 2, 1])
    peer.engine.ping(opaque('a'))
    assert.equal(peer.engine.freeStreams, 1)
    peer.sendPing('a       ', true)
    assert.deepEqual([peer.engine.cancels.size, peer.engine.freeStreams], [0, 3])
  })

  test('not by a PING from before', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 3 })
    peer.engine.ping(opaque('a'))
    cancel(peer, 3)
    assert.equal(peer.engine.wantsPing, true)
    peer.sendPing('a       ', true)
    assert.equal(peer.engine.freeStreams, 0)
    peer.engine.ping(opaque('b'))
    assert.equal(peer.engine.wantsPing, false)
    peer.sendPing('b       ', true)
    assert.equal(peer.engine.freeStreams, 3)
  })

  test('not by answers to a PING that was never sent', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 2 })
    for (let i = 0; i < 3; i++) peer.sendPing('nothing!', true)
    cancel(peer, 2)
    peer.sendPing('nothing!', true)
    assert.equal(peer.engine.freeStreams, 0)
    peer.engine.ping(opaque('a'))
    peer.sendPing('a       ', true)
    assert.equal(peer.engine.freeStreams, 2)
  })

  test('those that were reset behind the PING wait for the next one', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 4 })
    cancel(peer, 1)
    peer.engine.ping(opaque('a'))
    cancel(peer, 2)
    peer.sendPing('a       ', true)
    assert.equal(peer.engine.cancels.size, 2)
    peer.engine.ping(opaque('b'))
    peer.sendPing('b       ', true)
    assert.equal(peer.engine.cancels.size, 0)
  })

  test('a PING is proof for all before it, whenever they were reset', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 4 })
    for (let i = 0; i < 4; i++) cancel(peer, 1)
    peer.engine.ping(opaque('a'))
    peer.sendPing('a       ', true)
    assert.equal(peer.engine.freeStreams, 4)
  })

  test('an answer on a stream that was opened later is proof, too; on one from before it is none', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 5 })
    const before = peer.open(GET)
    cancel(peer, 2)
    const behind = peer.open(GET)
    peer.sendHead(before.id, 200)
    assert.equal(peer.engine.cancels.size, 2)
    peer.sendHead(behind.id, 200)
    assert.equal(peer.engine.cancels.size, 0)
    assert.equal(peer.engine.freeStreams, 3)
  })

  test('a PING is wanted only when no stream is free because of them', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 2 })
    cancel(peer, 1)
    assert.equal(peer.engine.wantsPing, false)
    const open = peer.open(GET)
    assert.equal(peer.engine.wantsPing, true)
    peer.sendHead(open.id, 200, true)
    assert.equal(peer.engine.wantsPing, false)
    assert.equal(peer.engine.freeStreams, 2)
  })

  test('the PING leaves behind the resets', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 2 })
    cancel(peer, 2)
    peer.engine.ping(opaque('a'))
    const types = peer.frames().map(({ type }) => type)
    assert.deepEqual(types.slice(-3), [RST_STREAM, RST_STREAM, PING])
  })

  test('a stream that has ended leaves nothing behind when it is given up', () => {
    const peer = FramePeer.ready({ maxConcurrentStreams: 1 })
    const stream = peer.open(GET)
    peer.sendHead(stream.id, 200, true)
    peer.engine.reset(stream, CANCEL)
    assert.deepEqual([peer.engine.cancels.size, peer.engine.freeStreams], [0, 1])
  })
})
