import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import { Stream } from '../../../src/protocol/http2/stream.ts'
import { StreamSet } from '../../../src/protocol/http2/stream-set.ts'
import {
  CLOSED_RESET_BY_US,
  CONNECTION_FAULT_CLOSED,
  IGNORED,
  RECV_END,
  RECV_HEADERS,
  RESET_BY_US,
  SEND_END,
  SEND_HEADERS,
} from '../../../src/protocol/http2/stream-state.ts'
import { Recorder, StreamRecorder } from '../../support/h2-recorder.ts'

const SINK = new StreamRecorder(new Recorder())

function stream(id: number): Stream {
  return new Stream(id, SINK, 'GET', true, 0, 0)
}

/** Both sides end. */
function close(set: StreamSet, id: number): void {
  const closing = set.get(id)!
  for (const input of [SEND_HEADERS, SEND_END, RECV_END] as const) closing.advance(input)
  set.remove(closing)
}

function openAndClose(set: StreamSet, id: number): void {
  set.add(stream(id))
  close(set, id)
}

describe('StreamSet', () => {
  test('ids are odd, ascending, and end at 2^31-1', () => {
    const set = new StreamSet()
    assert.equal(set.nextId, 1)
    set.add(stream(1))
    assert.equal(set.nextId, 3)
    set.add(stream(0x7ffffffd))
    assert.equal(set.hasIdsLeft, true)
    set.add(stream(0x7fffffff))
    assert.equal(set.hasIdsLeft, false)
    assert.equal(set.size, 3)
  })

  test('remembers why streams are closed, for a while', () => {
    const set = new StreamSet()
    openAndClose(set, 1)
    assert.equal(set.get(1), undefined)
    assert.equal(set.isIdle(1), false)
    assert.equal(set.advanceAbsent(1, RECV_HEADERS), CONNECTION_FAULT_CLOSED)
    assert.equal(set.isIdle(2), true)
    assert.equal(set.isIdle(3), true)
    set.add(stream(2049))
    assert.equal(set.isIdle(3), false)
    assert.equal(set.advanceAbsent(3, RECV_HEADERS), IGNORED, 'too old to be remembered')
    close(set, 2049)
    assert.equal(set.advanceAbsent(1, RECV_HEADERS), IGNORED, 'its place was taken')
  })

  test('a reset of a closed stream is remembered in place of what was', () => {
    const set = new StreamSet()
    openAndClose(set, 1)
    assert.equal(set.advanceAbsent(1, RESET_BY_US), CLOSED_RESET_BY_US)
    assert.equal(set.advanceAbsent(1, RECV_HEADERS), IGNORED)
  })

  test('an idle stream cannot be reset', () => {
    assert.throws(() => new StreamSet().advanceAbsent(1, RESET_BY_US), InternalError)
  })
})

describe('StreamSet: the memory of closed streams', () => {
  test('holds the last 1024, however many there were and in whatever order they closed', () => {
    for (const count of [20, 100, 1024, 5000]) {
      const set = new StreamSet()
      const ids = Array.from({ length: count }, (_, i) => 1 + 2 * i)
      for (const id of ids) set.add(stream(id))
      const late = ids.filter((id) => id % 3 === 0)
      for (const id of [...ids.filter((id) => id % 3 !== 0), ...late]) close(set, id)
      const newest = new Set(late.concat(ids.slice(-1024)))
      const known = ids.filter((id) => set.advanceAbsent(id, RECV_HEADERS) === CONNECTION_FAULT_CLOSED)
      assert.equal(known.length, Math.min(count, 1024))
      assert.ok(known.every((id) => newest.has(id) || count <= 1024))
    }
  })
})
