import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import {
  CANCEL,
  errorCodeName,
  GOAWAY,
  NO_ERROR,
  PROTOCOL_ERROR,
  RST_STREAM,
  STREAM_CLOSED,
} from '../../../src/protocol/http2/constants.ts'
import { Stream } from '../../../src/protocol/http2/stream.ts'
import * as stream from '../../../src/protocol/http2/stream-state.ts'
import { FramePeer, GET, POST } from '../../support/frame-peer.ts'
import { type RecordedStream, Recorder, StreamRecorder } from '../../support/h2-recorder.ts'

/** How stream 1 comes to each state, through the engine. Null for one that was never opened. */
const STATES: readonly { name: string; reach(peer: FramePeer): RecordedStream | null }[] = [
  { name: 'IDLE', reach: () => null },
  { name: 'OPEN', reach: (peer) => peer.request(POST, false) },
  { name: 'HALF_CLOSED_LOCAL', reach: (peer) => peer.request(GET, true) },
  {
    name: 'HALF_CLOSED_REMOTE',
    reach: (peer) => {
      const opened = peer.request(POST, false)
      peer.sendHead(1, 200, true)
      return opened
    },
  },
  {
    name: 'CLOSED_ENDED',
    reach: (peer) => {
      const opened = peer.request(GET, true)
      peer.sendHead(1, 200, true)
      return opened
    },
  },
  {
    name: 'CLOSED_RESET_BY_PEER',
    reach: (peer) => {
      const opened = peer.request(GET, true)
      peer.sendReset(1, CANCEL)
      return opened
    },
  },
  {
    name: 'CLOSED_RESET_BY_US',
    reach: (peer) => {
      const opened = peer.request(GET, true)
      peer.engine.reset(opened, CANCEL)
      return opened
    },
  },
]

/** Makes the engine use each input. DATA and an end need a head, which a live stream gets first. */
const INPUTS: readonly { name: string; drive(peer: FramePeer, opened: RecordedStream | null): unknown }[] = [
  {
    name: 'SEND_HEADERS',
    drive: (peer, opened) => {
      if (opened === null) return peer.request(POST, false)
      return peer.engine.sendTrailers(opened, ['a', 'b'])
    },
  },
  { name: 'SEND_END', drive: (peer, opened) => peer.engine.send(opened!, new Uint8Array(1), true) },
  {
    name: 'RESET_BY_US',
    drive: (peer, opened) => {
      // The owner's reset of a closed stream does nothing; only an answer to a faulty frame resets it.
      if (opened!.isClosed) peer.sendWindowUpdate(1, 0)
      else peer.engine.reset(opened!, CANCEL)
    },
  },
  { name: 'RECV_HEADERS', drive: (peer) => peer.sendHead(1, 200) },
  {
    name: 'RECV_DATA',
    drive: (peer, opened) => {
      if (opened?.mayReceive) peer.sendHead(1, 200)
      peer.sendData(1, 'x')
    },
  },
  { name: 'RECV_END', drive: (peer) => peer.sendHead(1, 200, true) },
  { name: 'RECV_RST', drive: (peer) => peer.sendReset(1, NO_ERROR) },
  { name: 'RECV_WINDOW_UPDATE', drive: (peer) => peer.sendWindowUpdate(1, 1) },
]

/** The errors among the frames that the engine has to send. */
function errorsSent(peer: FramePeer): string[] {
  return peer.frames().flatMap(({ type, payload }) => {
    if (type === RST_STREAM) return [`RST_STREAM ${errorCodeName(payload.readUInt32BE(0))}`]
    return type === GOAWAY ? [`GOAWAY ${errorCodeName(payload.readUInt32BE(4))}`] : []
  })
}

/** The state of a stream that is not live shows in what a late HEADERS frame costs. */
function stateOfAbsent(peer: FramePeer): number {
  peer.sendHead(1, 200)
  const [error] = errorsSent(peer)
  if (error === undefined) return stream.CLOSED_RESET_BY_US
  return error.startsWith('GOAWAY') ? stream.CLOSED_ENDED : stream.CLOSED_RESET_BY_PEER
}

const FAULTS: Readonly<Record<number, string[]>> = {
  [stream.IGNORED]: [],
  [stream.STREAM_FAULT_CLOSED]: [`RST_STREAM ${errorCodeName(STREAM_CLOSED)}`],
  [stream.CONNECTION_FAULT_CLOSED]: [`GOAWAY ${errorCodeName(STREAM_CLOSED)}`],
  [stream.CONNECTION_FAULT_IDLE]: [`GOAWAY ${errorCodeName(PROTOCOL_ERROR)}`],
}

/** Trailers are HEADERS and an end in one. */
function afterTrailers(input: number, outcome: stream.StreamOutcome): stream.StreamOutcome {
  const isTrailers = input === stream.SEND_HEADERS && stream.isState(outcome)
  return isTrailers ? stream.nextState(outcome, stream.SEND_END) : outcome
}

describe('stream states: the engine follows the table', () => {
  for (const [state, { name, reach }] of STATES.entries()) {
    for (const [input, { name: inputName, drive }] of INPUTS.entries()) {
      const outcome = stream.STREAM_TRANSITIONS[state]![input]!
      test(`${name}, ${inputName}`, () => {
        const peer = FramePeer.ready()
        const opened = reach(peer)
        peer.frames()
        if (outcome === stream.MISUSE) {
          const misused = opened ?? new Stream(1, new StreamRecorder(new Recorder()), 'GET', true, 0, 0)
          assert.equal(misused.state, state)
          assert.throws(() => misused.advance(input as stream.StreamInput), InternalError)
          assert.equal(misused.state, state)
          return
        }
        const driven = drive(peer, opened)
        const errors = errorsSent(peer)
        if (!stream.isState(outcome)) {
          assert.deepEqual(errors, FAULTS[outcome])
          return
        }
        const expected = opened === null ? outcome : afterTrailers(input, outcome)
        if (stream.isClosed(state as stream.StreamState)) {
          assert.equal(stateOfAbsent(peer), expected)
          return
        }
        const live = opened ?? (driven as RecordedStream)
        assert.equal(live.state, expected)
        assert.deepEqual(errors, input === stream.RESET_BY_US ? [`RST_STREAM ${errorCodeName(CANCEL)}`] : [])
      })
    }
  }

  test('every pair of state and input has an outcome', () => {
    assert.equal(stream.STREAM_TRANSITIONS.length, STATES.length)
    for (const row of stream.STREAM_TRANSITIONS) assert.equal(row.length, INPUTS.length)
  })

  test('closed streams stay closed, and no stream becomes idle again', () => {
    for (const [state, row] of stream.STREAM_TRANSITIONS.entries()) {
      for (const outcome of row) {
        assert.notEqual(outcome, stream.IDLE)
        if (stream.isClosed(state as stream.StreamState) && stream.isState(outcome)) {
          assert.ok(stream.isClosed(outcome))
        }
      }
    }
  })
})
