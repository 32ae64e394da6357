import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as response from '../../../src/protocol/http2/response-phase.ts'
import * as stream from '../../../src/protocol/http2/stream-state.ts'

describe('stream states', () => {
  const outcomes = new Set<number>([
    stream.IDLE,
    stream.OPEN,
    stream.HALF_CLOSED_LOCAL,
    stream.HALF_CLOSED_REMOTE,
    stream.CLOSED_ENDED,
    stream.CLOSED_RESET_BY_PEER,
    stream.CLOSED_RESET_BY_US,
    stream.IGNORED,
    stream.STREAM_FAULT_CLOSED,
    stream.CONNECTION_FAULT_CLOSED,
    stream.CONNECTION_FAULT_IDLE,
    stream.MISUSE,
  ])

  test('every pair of state and input has an outcome', () => {
    assert.equal(stream.STREAM_TRANSITIONS.length, 7)
    for (const row of stream.STREAM_TRANSITIONS) {
      assert.equal(row.length, 8)
      for (const outcome of row) assert.ok(outcomes.has(outcome))
    }
  })

  test('what a peer sends is never our misuse', () => {
    for (const row of stream.STREAM_TRANSITIONS) {
      for (let input = stream.RECV_HEADERS; input <= stream.RECV_WINDOW_UPDATE; input++) {
        assert.notEqual(row[input], stream.MISUSE)
      }
    }
  })

  test('closed streams stay closed, and idle is never come back to', () => {
    for (const [state, row] of stream.STREAM_TRANSITIONS.entries()) {
      for (const outcome of row) {
        assert.notEqual(outcome, stream.IDLE)
        if (stream.isClosed(state as stream.StreamState)) assert.equal(stream.isState(outcome), false)
      }
    }
  })

  test('an end is only ever added to', () => {
    const { advance } = stream
    assert.equal(advance(stream.OPEN, stream.SEND_END), stream.HALF_CLOSED_LOCAL)
    assert.equal(advance(stream.HALF_CLOSED_LOCAL, stream.RECV_END), stream.CLOSED_ENDED)
    assert.equal(advance(stream.OPEN, stream.RECV_END), stream.HALF_CLOSED_REMOTE)
    assert.equal(advance(stream.HALF_CLOSED_REMOTE, stream.SEND_END), stream.CLOSED_ENDED)
  })
})

describe('response phases', () => {
  test('every pair of phase and input has an outcome', () => {
    assert.equal(response.RESPONSE_TRANSITIONS.length, 4)
    for (const row of response.RESPONSE_TRANSITIONS) {
      assert.equal(row.length, 7)
      for (const outcome of row) assert.ok(outcome === response.MALFORMED || (outcome >= 0 && outcome <= 3))
    }
  })

  test('phases never go back', () => {
    for (const [phase, row] of response.RESPONSE_TRANSITIONS.entries()) {
      for (const outcome of row) assert.ok(outcome >= phase)
    }
  })

  test('nothing follows a complete response', () => {
    for (const outcome of response.RESPONSE_TRANSITIONS[response.COMPLETE]!) {
      assert.equal(outcome, response.MALFORMED)
    }
  })
})
