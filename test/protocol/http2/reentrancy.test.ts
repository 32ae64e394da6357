import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CANCEL,
  INTERNAL_ERROR,
  NO_ERROR,
  SETTINGS_INITIAL_WINDOW_SIZE,
} from '../../../src/protocol/http2/constants.ts'
import { FramePeer, POST } from '../../support/frame-peer.ts'

const GONE = { scope: 'connection', blame: 'peer', code: 'gone', message: '' } as const

test('reset inside onHead: nothing more is heard but onClosed', () => {
  for (const fields of [undefined, POST]) {
    const peer = FramePeer.ready()
    const stream = peer.request(fields, fields === undefined)
    peer.sink.react = (line) => {
      if (line.startsWith('head')) peer.engine.reset(stream, CANCEL)
    }
    peer.sendHead(1, 200, true)
    assert.deepEqual(peer.heard, ['head 1 200 (last)', 'closed 1'])
    assert.equal(peer.engine.streams.size, 0)
  }
})

test('reset inside onHead before a body', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sink.react = (line, stream) => {
    if (line.startsWith('head')) peer.engine.reset(stream, CANCEL)
  }
  peer.sendHead(1, 200)
  peer.sendData(1, 'x', true)
  assert.deepEqual(peer.heard, ['head 1 200', 'closed 1'])
  peer.wantReset(1, CANCEL)
  peer.wantNothing()
})

test('reset inside onInformational', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sink.react = (_line, stream) => peer.engine.reset(stream, CANCEL)
  peer.sendHead(1, 103)
  peer.sendHead(1, 200, true)
  assert.deepEqual(peer.heard, ['interim 1 103', 'closed 1'])
})

test('reset inside onData of the last frame', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sink.react = (line, stream) => {
    if (line.startsWith('data')) peer.engine.reset(stream, CANCEL)
  }
  peer.sendHead(1, 200)
  peer.sendData(1, 'x', true)
  assert.deepEqual(peer.heard, ['head 1 200', 'data 1 x', 'closed 1'])
  peer.wantReset(1, CANCEL)
})

test('reset inside onEnd, onReset and onClosed does nothing', () => {
  const peer = FramePeer.ready()
  peer.sink.react = (_line, stream) => {
    if (stream.isClosed) peer.engine.reset(stream, CANCEL)
  }
  peer.request()
  peer.request()
  peer.sendHead(1, 200, true)
  peer.sendReset(3, INTERNAL_ERROR)
  assert.deepEqual(peer.heard, [
    'head 1 200 (last)',
    'closed 1',
    'reset 3 stream peer INTERNAL_ERROR',
    'closed 3',
  ])
  peer.wantNothing()
})

test('a new stream inside onClosed finds a free place', () => {
  const peer = FramePeer.ready({ maxConcurrentStreams: 1 })
  peer.request()
  let opened = 0
  peer.sink.react = (line) => {
    if (line.startsWith('closed') && opened < 3) {
      opened++
      assert.equal(peer.engine.freeStreams, 1)
      peer.open()
    }
  }
  peer.sendHead(1, 200, true)
  peer.sendReset(3, CANCEL)
  peer.sendHeaders(5, ['malformed', 'head'])
  assert.equal(opened, 3)
  assert.equal(peer.engine.streams.size, 1)
})

test('other streams reset while a connection error is reported', () => {
  const peer = FramePeer.ready()
  const streams = [1, 2, 3].map(() => peer.request())
  peer.sink.react = (line) => {
    if (line.startsWith('reset 1')) for (const stream of streams) peer.engine.reset(stream, CANCEL)
  }
  peer.sendPushPromise(1, 2)
  assert.deepEqual(peer.heard, [
    'reset 1 connection peer PROTOCOL_ERROR',
    'closed 1',
    'closed 3',
    'closed 5',
    'failure peer PROTOCOL_ERROR',
  ])
})

test('other streams reset while a GOAWAY is reported', () => {
  const peer = FramePeer.ready()
  const streams = [1, 2, 3].map(() => peer.request())
  peer.sink.react = (line) => {
    if (line.startsWith('reset 3')) for (const stream of streams) peer.engine.reset(stream, CANCEL)
  }
  peer.sendGoaway(1, NO_ERROR)
  assert.deepEqual(peer.heard, [
    'goaway 1 NO_ERROR',
    'reset 3 connection peer NO_ERROR (unprocessed)',
    'closed 1',
    'closed 3',
    'closed 5',
  ])
  peer.wantReset(1, CANCEL)
})

test('terminate inside any callback stops the reading of the same bytes', () => {
  for (const when of ['interim', 'head', 'data']) {
    const peer = FramePeer.ready()
    peer.request()
    peer.sink.react = (line) => {
      if (line.startsWith(when)) peer.engine.terminate(GONE)
    }
    peer.sendHead(1, 103)
    peer.sendHead(1, 200)
    peer.sendData(1, 'x', true)
    const heard = peer.heard
    assert.deepEqual(heard.slice(-2), ['reset 1 connection peer gone', 'closed 1'])
    assert.ok(heard.at(-3)!.startsWith(when))
  }
})

test('terminate inside onData, with padding and an end to come', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sink.react = (line) => {
    if (line.startsWith('data')) peer.engine.terminate(GONE)
  }
  peer.sendHead(1, 200)
  peer.sendPaddedData(1, 'x', 5, true)
  assert.deepEqual(peer.heard, ['head 1 200', 'data 1 x', 'reset 1 connection peer gone', 'closed 1'])
})

test('terminate inside onHead of a complete response: the response stands', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.sink.react = (line) => {
    if (line.startsWith('head')) peer.engine.terminate(GONE)
  }
  peer.sendHead(1, 200, true)
  assert.deepEqual(peer.heard, ['head 1 200 (last)', 'end 1', 'closed 1'])
})

test('terminate inside onReset of a provoked reset', () => {
  const peer = FramePeer.ready()
  peer.request()
  peer.request()
  peer.sink.react = (line) => {
    if (line.startsWith('reset 1')) peer.engine.terminate(GONE)
  }
  peer.sendData(1, 'before the head')
  assert.deepEqual(peer.heard, [
    'reset 1 stream peer PROTOCOL_ERROR',
    'reset 3 connection peer gone',
    'closed 3',
    'closed 1',
  ])
})

test('terminate inside onReset that spends the last of a budget', () => {
  const peer = FramePeer.ready({ abuse: { peerResets: 0 } })
  peer.request()
  peer.sink.react = (line) => {
    if (line.startsWith('reset')) peer.engine.terminate(GONE)
  }
  peer.sendReset(1, CANCEL)
  assert.deepEqual(peer.heard, ['reset 1 stream peer CANCEL', 'closed 1'])
})

test('send inside onWritable, and reset of another stream that waits to hear the same', () => {
  const peer = FramePeer.ready({}, [[SETTINGS_INITIAL_WINDOW_SIZE, 1_000_000]])
  peer.sendWindowUpdate(0, 1_000_000)
  const one = peer.request(POST, false)
  const two = peer.request(POST, false)
  assert.equal(peer.engine.send(one, Buffer.alloc(131_073), false), false)
  assert.equal(peer.engine.send(two, Buffer.alloc(131_073), false), false)
  peer.sink.react = (line) => {
    if (line !== 'writable 1') return
    peer.engine.reset(two, CANCEL)
    peer.engine.send(one, Buffer.from('more'), true)
  }
  peer.pullAll()
  assert.deepEqual(peer.heard, ['writable 1', 'closed 3'])
  const last = peer.frames().at(-1)!
  assert.equal(last.streamId, 1)
  assert.equal(last.flags, 1)
})

test('the owner opens the next stream inside onEnd while its own body goes on', () => {
  const peer = FramePeer.ready()
  const stream = peer.request(POST, false)
  peer.sink.react = (line) => {
    if (line.startsWith('end 1')) peer.open()
  }
  peer.sendHead(1, 200, true)
  peer.wantHeaders(3)
  peer.engine.send(stream, Buffer.from('x'), true)
  peer.wantData(1)
  assert.equal(peer.engine.streams.size, 1)
})
