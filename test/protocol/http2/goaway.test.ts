import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENHANCE_YOUR_CALM, NO_ERROR, PROTOCOL_ERROR } from '../../../src/protocol/http2/constants.ts'
import { FramePeer, POST } from '../../support/frame-peer.ts'

const MAX_ID = 0x7fffffff

test('GOAWAY stops new streams; those it covers finish', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendGoaway(1, NO_ERROR, 'restart')
  assert.deepEqual(peer.heard, ['goaway 1 NO_ERROR restart'])
  assert.equal(peer.engine.canOpen, false)
  assert.equal(peer.engine.freeStreams, 0)
  assert.equal(peer.engine.streams.size, 1)
  peer.sendHead(1, 200)
  peer.sendData(1, 'all', true)
  assert.deepEqual(peer.heard, ['head 1 200', 'data 1 all', 'end 1', 'closed 1'])
})

test('streams above the last id were not processed', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.request()
  const third = peer.request(POST, false)
  peer.engine.send(third, Buffer.alloc(100), false)
  peer.sendGoaway(1, ENHANCE_YOUR_CALM)
  assert.deepEqual(peer.heard, [
    'goaway 1 ENHANCE_YOUR_CALM',
    'reset 3 connection peer ENHANCE_YOUR_CALM (unprocessed)',
    'closed 3',
    'reset 5 connection peer ENHANCE_YOUR_CALM (unprocessed)',
    'closed 5',
  ])
  assert.equal(peer.engine.streams.size, 1)
  peer.wantNothing()
})

test('late frames on streams that a GOAWAY refused are ignored', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendGoaway(0, NO_ERROR)
  peer.sink.take()
  peer.sendHead(1, 200)
  peer.sendData(1, 'x', true)
  assert.deepEqual(peer.heard, [])
  peer.wantNothing()
})

test('graceful in two steps: first 2^31-1, then the real id', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.request()
  peer.sendGoaway(MAX_ID, NO_ERROR)
  assert.deepEqual(peer.heard, [`goaway ${MAX_ID} NO_ERROR`])
  assert.equal(peer.engine.canOpen, false)
  peer.sendGoaway(1, NO_ERROR)
  assert.deepEqual(peer.heard, [
    'goaway 1 NO_ERROR',
    'reset 3 connection peer NO_ERROR (unprocessed)',
    'closed 3',
  ])
  peer.sendHead(1, 200, true)
  assert.deepEqual(peer.heard, ['head 1 200 (last)', 'end 1', 'closed 1'])
})

test('the same GOAWAY twice is fine, a rising last id is not', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendGoaway(1, NO_ERROR)
  peer.sendGoaway(1, NO_ERROR)
  assert.equal(peer.engine.isClosed, false)
  peer.sendGoaway(3, NO_ERROR)
  assert.match(peer.wantFailure(PROTOCOL_ERROR), /rising/)
})

test('GOAWAY before anything was asked', () => {
  const peer = new FramePeer()
  peer.sendSettings()
  peer.sendGoaway(0, NO_ERROR)
  assert.equal(peer.engine.canOpen, false)
  assert.equal(peer.engine.isClosed, false)
})

test('GOAWAY while a body is coming: the stream goes on', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendHead(1, 200)
  peer.sendData(1, 'a')
  peer.sendGoaway(1, NO_ERROR)
  peer.sendData(1, 'b')
  peer.sendHeaders(1, ['t', '1'], true)
  assert.deepEqual(peer.heard, [
    'head 1 200',
    'data 1 a',
    'goaway 1 NO_ERROR',
    'data 1 b',
    'end 1 t=1',
    'closed 1',
  ])
})

test('GOAWAY while a body is going: the stream goes on', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(POST, false)
  peer.engine.send(stream, Buffer.from('a'), false)
  peer.wantData(1)
  peer.sendGoaway(1, NO_ERROR)
  peer.engine.send(stream, Buffer.from('b'), true)
  assert.deepEqual(peer.wantData(1), { text: 'b', endStream: true })
})

test('GOAWAY refuses a stream whose head has come: it is over, but no proof that nothing was done', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendHead(1, 200)
  peer.sendGoaway(0, NO_ERROR)
  assert.deepEqual(peer.heard, [
    'head 1 200',
    'goaway 0 NO_ERROR',
    'reset 1 connection peer NO_ERROR',
    'closed 1',
  ])
})

test('GOAWAY after everything is closed', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendHead(1, 200, true)
  peer.sink.take()
  peer.sendGoaway(1, NO_ERROR)
  assert.deepEqual(peer.heard, ['goaway 1 NO_ERROR'])
})

test('GOAWAY that refuses a stream whose response is complete only stops its request', () => {
  const peer = FramePeer.ready()
  peer.request(POST, false)
  peer.sendHead(1, 200, true)
  peer.sink.take()
  peer.sendGoaway(0, NO_ERROR)
  assert.deepEqual(peer.heard, ['goaway 0 NO_ERROR', 'closed 1'])
})

test('GOAWAY inside a header block is a connection error', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendFrame(1, 0, 1, peer.block([':status', '200']))
  peer.sendGoaway(1, NO_ERROR)
  assert.match(peer.wantFailure(PROTOCOL_ERROR), /interrupted/)
})

test('a fatal error after GOAWAY still ends the connection (CVE-2022-27664)', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendGoaway(1, NO_ERROR)
  peer.sendPushPromise(1, 2)
  assert.deepEqual(peer.sink.lines.slice(1), [
    'reset 1 connection peer PROTOCOL_ERROR',
    'closed 1',
    'failure peer PROTOCOL_ERROR',
  ])
  peer.wantFailure(PROTOCOL_ERROR)
})

test('debug data is cut at 1 KiB', () => {
  const peer = FramePeer.ready()
  peer.sendGoaway(0, NO_ERROR, 'x'.repeat(5000))
  assert.equal(peer.heard[0], `goaway 0 NO_ERROR ${'x'.repeat(1024)}`)
})
