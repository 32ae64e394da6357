import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CANCEL,
  errorCodeName,
  INTERNAL_ERROR,
  NO_ERROR,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
  STREAM_CLOSED,
} from '../../../src/protocol/http2/constants.ts'
import { FramePeer, POST } from '../../support/frame-peer.ts'

const ALL_CODES = [...Array(14).keys()]

describe('RST_STREAM from the server', () => {
  for (const code of ALL_CODES) {
    const name = errorCodeName(code)

    test(`${name} before the head`, () => {
      const peer = FramePeer.ready()
      peer.request()
      peer.sendReset(1, code)
      const verdict = code === REFUSED_STREAM ? ' (unprocessed)' : ''
      assert.deepEqual(peer.heard, [`reset 1 stream peer ${name}${verdict}`, 'closed 1'])
      assert.equal(peer.engine.streams.size, 0)
      assert.equal(peer.engine.canOpen, true)
      peer.wantNothing()
    })

    test(`${name} within the body is never a success`, () => {
      const peer = FramePeer.ready()
      peer.request()
      peer.sendHead(1, 200)
      peer.sendData(1, 'half')
      peer.sendReset(1, code)
      assert.deepEqual(peer.heard, ['head 1 200', 'data 1 half', `reset 1 stream peer ${name}`, 'closed 1'])
    })

    test(`${name} after END_STREAM changes nothing`, () => {
      const peer = FramePeer.ready()
      peer.request()
      peer.sendHead(1, 200, true)
      peer.sendReset(1, code)
      assert.deepEqual(peer.heard, ['head 1 200 (last)', 'end 1', 'closed 1'])
      peer.wantNothing()
    })

    test(`${name} after END_STREAM while the request is under way stops the request`, () => {
      const peer = FramePeer.ready()
      const stream = peer.request(POST, false)
      peer.sendHead(1, 200, true)
      peer.sendReset(1, code)
      assert.deepEqual(peer.heard, ['head 1 200 (last)', 'end 1', 'closed 1'])
      assert.equal(peer.engine.send(stream, Buffer.from('x'), true), false)
      peer.wantNothing()
    })
  }

  test('with a code that nobody has defined', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendReset(1, 0xbadc0de)
    assert.deepEqual(peer.heard, [`reset 1 stream peer error code ${0xbadc0de}`, 'closed 1'])
  })

  test('REFUSED_STREAM after an interim response is no proof that nothing was done', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 103)
    peer.sendReset(1, REFUSED_STREAM)
    assert.deepEqual(peer.heard, ['interim 1 103', 'reset 1 stream peer REFUSED_STREAM', 'closed 1'])
  })

  test('on an idle stream is a connection error', () => {
    const peer = FramePeer.ready()
    peer.sendReset(1, CANCEL)
    assert.match(peer.wantFailure(PROTOCOL_ERROR), /stream 1/)
  })

  test('on a stream that only a server could open is a connection error', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendReset(2, CANCEL)
    peer.wantFailure(PROTOCOL_ERROR)
  })
})

describe('frames on closed streams', () => {
  test('are ignored after our reset; their header blocks are decoded all the same', () => {
    const peer = FramePeer.ready()
    const stream = peer.request()
    peer.request()
    peer.engine.reset(stream, CANCEL)
    peer.wantReset(1, CANCEL)
    peer.sink.take()
    peer.sendHead(1, 200, false, ['x-state', 'enters the table'])
    peer.sendData(1, 'late')
    peer.sendWindowUpdate(1, 10)
    peer.sendHeaders(1, ['x-trailer', '1'], true)
    peer.sendReset(1, NO_ERROR)
    assert.deepEqual(peer.heard, [])
    // Refers to the entry that the dropped block put into the table.
    peer.sendHead(3, 200, true, ['x-state', 'enters the table'])
    assert.deepEqual(peer.heard, ['head 3 200 x-state=enters the table (last)', 'end 3', 'closed 3'])
    peer.wantNothing()
  })

  test('are a stream error after a reset by the server, once', () => {
    for (const send of [
      (peer: FramePeer) => peer.sendHead(1, 200),
      (peer: FramePeer) => peer.sendData(1, 'x', true),
    ]) {
      const peer = FramePeer.ready()
      peer.request()
      peer.sendReset(1, INTERNAL_ERROR)
      send(peer)
      peer.wantReset(1, STREAM_CLOSED)
      send(peer)
      peer.wantNothing()
      assert.equal(peer.engine.isClosed, false)
    }
  })

  test('RST_STREAM and WINDOW_UPDATE after a reset by the server are ignored', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendReset(1, CANCEL)
    peer.sendReset(1, CANCEL)
    peer.sendWindowUpdate(1, 1)
    peer.wantNothing()
    assert.deepEqual(peer.heard, ['reset 1 stream peer CANCEL', 'closed 1'])
  })

  test('are a connection error after both ends of the stream', () => {
    for (const send of [
      (peer: FramePeer) => peer.sendHead(1, 200),
      (peer: FramePeer) => peer.sendData(1, 'x'),
    ]) {
      const peer = FramePeer.ready()
      peer.request()
      peer.sendHead(1, 200, true)
      send(peer)
      peer.wantFailure(STREAM_CLOSED)
    }
  })

  test('are a stream error when only the server has ended it', () => {
    for (const send of [
      (peer: FramePeer) => peer.sendHead(1, 200),
      (peer: FramePeer) => peer.sendData(1, 'x'),
    ]) {
      const peer = FramePeer.ready()
      peer.request(POST, false)
      peer.sendHead(1, 200, true)
      send(peer)
      // The response was complete: that is what the owner keeps.
      assert.deepEqual(peer.heard, ['head 1 200 (last)', 'end 1', 'closed 1'])
      peer.wantReset(1, STREAM_CLOSED)
    }
  })

  test('are ignored when the stream is too old to be remembered', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200, true)
    for (let i = 0; i < 1024; i++) {
      const stream = peer.open()
      peer.sendHead(stream.id, 200, true)
    }
    peer.frames()
    peer.sendData(1, 'very late')
    peer.wantNothing()
    assert.equal(peer.engine.isClosed, false)
  })

  test('on idle streams are connection errors', () => {
    for (const send of [
      (peer: FramePeer) => peer.sendHead(7, 200),
      (peer: FramePeer) => peer.sendData(7, 'x'),
      (peer: FramePeer) => peer.sendWindowUpdate(7, 1),
      (peer: FramePeer) => peer.sendHead(2, 200),
    ]) {
      const peer = FramePeer.ready()
      peer.request()
      send(peer)
      peer.wantFailure(PROTOCOL_ERROR)
    }
  })
})

describe('a connection error', () => {
  test('reports every stream once, then itself', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.request(POST, false)
    peer.request(POST, false)
    peer.sendHead(3, 200, true)
    peer.sink.take()
    peer.sendPushPromise(1, 2)
    assert.deepEqual(peer.sink.lines, [
      'reset 1 connection peer PROTOCOL_ERROR',
      'closed 1',
      'closed 3',
      'reset 5 connection peer PROTOCOL_ERROR',
      'closed 5',
      'failure peer PROTOCOL_ERROR',
    ])
    assert.match(peer.wantFailure(PROTOCOL_ERROR), /PUSH_PROMISE/)
  })

  test('leaves nothing that could still happen', () => {
    const peer = FramePeer.ready()
    const stream = peer.request()
    peer.sendFrame(9, 0, 1)
    peer.wantFailure(PROTOCOL_ERROR)
    peer.sink.take()
    peer.sendHead(1, 200, true)
    peer.engine.reset(stream, CANCEL)
    peer.engine.ping(Buffer.alloc(8))
    peer.engine.shutdown()
    peer.engine.terminate({ scope: 'connection', blame: 'peer', code: 'x', message: '' })
    peer.wantNothing()
    assert.deepEqual(peer.heard, [])
    assert.equal(peer.engine.freeStreams, 0)
  })

  test('says which requests never left', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.open()
    peer.sendPing('short')
    assert.deepEqual(peer.sink.lines.slice(0, 4), [
      'reset 1 connection peer FRAME_SIZE_ERROR',
      'closed 1',
      'reset 3 connection peer FRAME_SIZE_ERROR (unprocessed)',
      'closed 3',
    ])
  })
})

describe('the owner', () => {
  test('terminates when the transport is gone', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.sendHead(1, 200)
    peer.sink.take()
    peer.open()
    peer.engine.terminate({ scope: 'connection', blame: 'peer', code: 'gone', message: 'gone' })
    assert.deepEqual(peer.heard, [
      'reset 1 connection peer gone',
      'closed 1',
      'reset 3 connection peer gone (unprocessed)',
      'closed 3',
    ])
    assert.equal(peer.engine.isClosed, true)
    assert.equal(peer.engine.streams.size, 0)
  })

  test('shuts down gracefully: what runs may finish', () => {
    const peer = FramePeer.ready()
    peer.request()
    peer.engine.shutdown()
    assert.equal(peer.wantGoaway(NO_ERROR), '')
    assert.equal(peer.engine.canOpen, false)
    assert.equal(peer.engine.freeStreams, 0)
    peer.sendHead(1, 200, true)
    assert.deepEqual(peer.heard, ['head 1 200 (last)', 'end 1', 'closed 1'])
    assert.equal(peer.engine.isClosed, false)
  })
})
