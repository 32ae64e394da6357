import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import { CANCEL, NO_ERROR, SETTINGS, WINDOW_UPDATE } from '../../../src/protocol/http2/constants.ts'
import { CONNECT, FramePeer, GET, HEAD, POST } from '../../support/frame-peer.ts'

test('the preface is SETTINGS and the larger connection window', () => {
  const peer = new FramePeer({
    initialWindowSize: 300_000,
    connectionWindowSize: 600_000,
    maxHeaderSize: 1000,
  })
  const settings = peer.want(SETTINGS)
  assert.equal(settings.flags, 0)
  // ENABLE_PUSH 0, MAX_CONCURRENT_STREAMS 100, INITIAL_WINDOW_SIZE 300000, MAX_HEADER_LIST_SIZE 1000 + 32 for each permitted field, and
  // HEADER_TABLE_SIZE 4096, which nginx does without its table for.
  assert.equal(
    settings.payload.toString('hex'),
    '000200000000' + '000300000064' + '0004000493e0' + '00060000fde8' + '000100001000',
  )
  assert.equal(peer.wantWindowUpdate(0), 600_000 - 65_535)
  peer.wantNothing()
  assert.equal(peer.engine.areSettingsAcknowledged, false)
  peer.sendSettings()
  peer.sendSettingsAck()
  assert.equal(peer.engine.areSettingsAcknowledged, true)
})

test('a connection window of the default size or smaller is not announced', () => {
  for (const connectionWindowSize of [65_535, 1000]) {
    const peer = new FramePeer({ connectionWindowSize })
    peer.want(SETTINGS)
    peer.wantNothing()
  }
})

test('windows above 2^31-1 are cut down to it', () => {
  const peer = new FramePeer({ initialWindowSize: 2 ** 40, connectionWindowSize: 2 ** 40 })
  assert.equal(peer.want(SETTINGS).payload.readUInt32BE(14), 0x7fffffff)
  assert.equal(peer.wantWindowUpdate(0), 0x7fffffff - 65_535)
})

test('a request without body is one HEADERS frame with END_STREAM, answered and closed', () => {
  const peer = FramePeer.ready()
  const stream = peer.open([...GET, 'accept', '*/*'], true)
  const head = peer.wantHeaders(1)
  assert.deepEqual(head.fields, [...GET, 'accept', '*/*'])
  assert.equal(head.endStream, true)
  assert.equal(peer.engine.streams.size, 1)
  peer.sendHead(1, 200, false, ['content-type', 'text/plain', 'content-length', '5'])
  peer.sendData(1, 'he')
  peer.sendData(1, 'llo', true)
  assert.deepEqual(peer.heard, [
    'head 1 200 content-type=text/plain content-length=5',
    'data 1 he',
    'data 1 llo',
    'end 1',
    'closed 1',
  ])
  assert.equal(peer.engine.streams.size, 0)
  assert.equal(stream.isClosed, true)
  peer.wantNothing()
})

test('a response that is only a head says so', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendHead(1, 204, true)
  assert.deepEqual(peer.heard, ['head 1 204 (last)', 'end 1', 'closed 1'])
})

test('interim responses come before the head', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendHead(1, 100)
  peer.sendHead(1, 103, false, ['link', '</a.css>'])
  peer.sendHead(1, 200, true)
  assert.deepEqual(peer.heard, [
    'interim 1 100',
    'interim 1 103 link=</a.css>',
    'head 1 200 (last)',
    'end 1',
    'closed 1',
  ])
})

test('trailers end the response', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendHead(1, 200)
  peer.sendData(1, 'x')
  peer.sendHeaders(1, ['grpc-status', '0'], true)
  assert.deepEqual(peer.heard, ['head 1 200', 'data 1 x', 'end 1 grpc-status=0', 'closed 1'])
})

test('a head in padded HEADERS with priority is read', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendPaddedHeaders(1, [':status', '200', 'a', 'b'], 20, true)
  assert.deepEqual(peer.heard, ['head 1 200 a=b (last)', 'end 1', 'closed 1'])
})

test('a HEAD response may announce content that does not come', () => {
  const peer = FramePeer.ready()
  peer.request(HEAD)
  peer.sendHead(1, 200, true, ['content-length', '100'])
  assert.deepEqual(peer.heard, ['head 1 200 content-length=100 (last)', 'end 1', 'closed 1'])
  peer.request(HEAD)
  peer.sendHead(3, 200, false, ['content-length', '100'])
  peer.sendData(3, '', true)
  assert.deepEqual(peer.heard, ['head 3 200 content-length=100', 'end 3', 'closed 3'])
})

test('a 304 may announce content that does not come', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sendHead(1, 304, true, ['content-length', '100'])
  assert.deepEqual(peer.heard, ['head 1 304 content-length=100 (last)', 'end 1', 'closed 1'])
})

test('many streams are answered in any order', () => {
  const peer = FramePeer.ready()
  for (let i = 0; i < 3; i++) peer.request()
  peer.sendHead(5, 200)
  peer.sendHead(1, 201, true)
  peer.sendHead(3, 202)
  peer.sendData(5, 'five', true)
  peer.sendData(3, 'three', true)
  assert.deepEqual(peer.heard, [
    'head 5 200',
    'head 1 201 (last)',
    'end 1',
    'closed 1',
    'head 3 202',
    'data 5 five',
    'end 5',
    'closed 5',
    'data 3 three',
    'end 3',
    'closed 3',
  ])
})

test('a body follows its head and ends with the last DATA frame', () => {
  const peer = FramePeer.ready()
  const stream = peer.open(POST, false)
  assert.equal(peer.wantHeaders(1).endStream, false)
  assert.equal(peer.engine.send(stream, Buffer.from('hello '), false), true)
  assert.equal(peer.engine.send(stream, Buffer.from('world'), true), true)
  assert.deepEqual(peer.wantData(1), { text: 'hello world', endStream: true })
  peer.wantNothing()
  peer.sendHead(1, 200, true)
  assert.deepEqual(peer.heard, ['head 1 200 (last)', 'end 1', 'closed 1'])
})

test('a body may end after its last bytes are out', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(POST, false)
  peer.engine.send(stream, Buffer.from('x'), false)
  assert.deepEqual(peer.wantData(1), { text: 'x', endStream: false })
  peer.engine.send(stream, new Uint8Array(0), true)
  assert.deepEqual(peer.wantData(1), { text: '', endStream: true })
})

test('request trailers are the last frame of the request', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(POST, false)
  peer.engine.send(stream, Buffer.from('body'), false)
  peer.engine.sendTrailers(stream, ['x-sum', '1'])
  assert.deepEqual(peer.wantData(1), { text: 'body', endStream: false })
  assert.deepEqual(peer.wantHeaders(1), { fields: ['x-sum', '1'], endStream: true, frames: 1 })
  peer.wantNothing()
})

test('a response may be complete before the request: the stream closes when both are', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(POST, false)
  peer.sendHead(1, 200, true)
  assert.deepEqual(peer.heard, ['head 1 200 (last)', 'end 1'])
  assert.equal(peer.engine.streams.size, 1)
  peer.engine.send(stream, Buffer.from('rest'), true)
  assert.deepEqual(peer.wantData(1), { text: 'rest', endStream: true })
  assert.deepEqual(peer.heard, ['closed 1'])
  assert.equal(peer.engine.streams.size, 0)
})

test('a tunnel carries bytes both ways until both ends are done', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(CONNECT, false)
  peer.sendHead(1, 200, false, ['content-length', '0'])
  peer.sendData(1, 'from the target')
  peer.engine.send(stream, Buffer.from('to the target'), false)
  assert.deepEqual(peer.wantData(1), { text: 'to the target', endStream: false })
  peer.sendData(1, '', true)
  assert.deepEqual(peer.heard, ['head 1 200 content-length=0', 'data 1 from the target', 'end 1'])
  peer.engine.send(stream, new Uint8Array(0), true)
  assert.deepEqual(peer.wantData(1), { text: '', endStream: true })
  assert.deepEqual(peer.heard, ['closed 1'])
})

test('a tunnel that a 204 opens carries bytes too', () => {
  const peer = FramePeer.ready()
  peer.request(CONNECT, false)
  peer.sendHead(1, 204)
  peer.sendData(1, 'x')
  assert.deepEqual(peer.heard, ['head 1 204', 'data 1 x'])
})

test('a refused CONNECT has ordinary content', () => {
  const peer = FramePeer.ready()
  peer.request(CONNECT, false)
  peer.sendHead(1, 403, false, ['content-length', '2'])
  peer.sendData(1, 'no', true)
  assert.deepEqual(peer.heard, ['head 1 403 content-length=2', 'data 1 no', 'end 1'])
})

test('a header block larger than a frame goes out as HEADERS and CONTINUATION', () => {
  const peer = FramePeer.ready()
  const fields = [...GET]
  for (let i = 0; i < 20; i++) fields.push(`x-${i}`, `${'~'.repeat(3000)}${i}`)
  peer.open(fields)
  const head = peer.wantHeaders(1)
  assert.deepEqual(head.fields, fields)
  assert.ok(head.frames > 1)
  assert.equal(head.endStream, true)
  peer.wantNothing()
})

test('reset gives a stream up: RST_STREAM, and only onClosed', () => {
  const peer = FramePeer.ready()
  const stream = peer.request()
  peer.sendHead(1, 200)
  peer.sink.take()
  peer.engine.reset(stream, CANCEL)
  assert.deepEqual(peer.heard, ['closed 1'])
  peer.wantReset(1, CANCEL)
  peer.engine.reset(stream, CANCEL)
  peer.wantNothing()
  assert.deepEqual(peer.heard, [])
})

test('what is called on a closed stream does nothing', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(POST, false)
  peer.engine.send(stream, Buffer.from('never sent'), false)
  peer.engine.reset(stream, CANCEL)
  peer.wantReset(1, CANCEL)
  assert.equal(stream.queue.bytes, 0)
  assert.equal(peer.engine.send(stream, Buffer.from('x'), true), false)
  peer.engine.sendTrailers(stream, ['a', 'b'])
  peer.engine.release(stream, 100)
  peer.wantNothing()
})

test('our own misuse throws', () => {
  const peer = FramePeer.ready({ maxConcurrentStreams: 1 })
  assert.throws(() => peer.open([':path', '/'], true), InternalError)
  const stream = peer.request(POST, false)
  assert.throws(() => peer.open(), InternalError)
  peer.engine.send(stream, Buffer.from('x'), true)
  assert.throws(() => peer.engine.send(stream, Buffer.from('y'), true), InternalError)
  assert.throws(() => peer.engine.sendTrailers(stream, []), InternalError)
  assert.throws(() => peer.engine.ping(new Uint8Array(7)), InternalError)
  assert.throws(() => peer.engine.release(stream, 1), InternalError)
})

test('a ping comes back as a pong; pings of the server are answered', () => {
  const peer = FramePeer.ready()
  peer.engine.ping(Buffer.from('12345678'))
  assert.equal(peer.wantPing(false), '12345678')
  peer.sendPing('12345678', true)
  assert.deepEqual(peer.heard, ['pong 12345678'])
  peer.sendPing('abcdefgh')
  assert.equal(peer.wantPing(true), 'abcdefgh')
  assert.deepEqual(peer.heard, [])
})

test('control frames go before DATA that was queued earlier', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(POST, false)
  peer.engine.send(stream, Buffer.from('data'), true)
  peer.sendPing('abcdefgh')
  peer.open()
  peer.wantPing(true)
  peer.wantHeaders(3)
  peer.wantData(1)
})

test('wantsOutput and takeOutput agree', () => {
  const peer = FramePeer.ready()
  assert.equal(peer.engine.wantsOutput, false)
  assert.equal(peer.engine.takeOutput(), null)
  const stream = peer.request(POST, false)
  assert.equal(peer.engine.wantsOutput, false)
  peer.engine.send(stream, Buffer.from('x'), false)
  assert.equal(peer.engine.wantsOutput, true)
  peer.wantData(1)
  assert.equal(peer.engine.wantsOutput, false)
})

test('RST_STREAM(NO_ERROR) after a complete response stops the upload, nothing else (RFC 9113 §8.1)', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(POST, false)
  peer.engine.send(stream, Buffer.alloc(100_000), false)
  peer.sendHead(1, 413, false)
  peer.sendData(1, 'too much', true)
  peer.sendReset(1, NO_ERROR)
  assert.deepEqual(peer.heard, ['head 1 413', 'data 1 too much', 'end 1', 'closed 1'])
  assert.equal(stream.queue.bytes, 0)
  peer.wantNothing()
})

test('consumed content is given back to the stream in batches, not after its end', () => {
  const peer = FramePeer.ready({ initialWindowSize: 1000 })
  const stream = peer.request()
  peer.sendHead(1, 200)
  peer.sendData(1, 'x'.repeat(600))
  peer.engine.release(stream, 200)
  peer.wantNothing()
  peer.engine.release(stream, 50)
  assert.equal(peer.wantWindowUpdate(1), 250)
  peer.sendData(1, 'x'.repeat(600), true)
  peer.engine.release(stream, 950)
  assert.equal(peer.frames().filter((frame) => frame.type === WINDOW_UPDATE).length, 0)
})

test('nothing is given back to a stream that the server has ended, even while we send', () => {
  const peer = FramePeer.ready({ initialWindowSize: 1000 })
  const stream = peer.request(POST, false)
  peer.sendHead(1, 200)
  peer.sendData(1, 'x'.repeat(900), true)
  peer.engine.release(stream, 900)
  peer.wantNothing()
})
