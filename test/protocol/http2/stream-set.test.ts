import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Stream } from '../../../src/protocol/http2/stream.ts'
import { StreamList } from '../../../src/protocol/http2/stream-list.ts'
import { StreamSet } from '../../../src/protocol/http2/stream-set.ts'
import { CLOSED_ENDED, CLOSED_RESET_BY_US, IDLE } from '../../../src/protocol/http2/stream-state.ts'

function stream(id: number): Stream<null> {
  return new Stream(id, null, 'GET', true, 0, 0)
}

describe('StreamSet', () => {
  test('ids are odd, ascending, and end at 2^31-1', () => {
    const set = new StreamSet<null>()
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
    const set = new StreamSet<null>()
    const one = stream(1)
    set.add(one)
    one.state = CLOSED_ENDED
    set.remove(one)
    assert.equal(set.get(1), undefined)
    assert.equal(set.stateOfAbsent(1), CLOSED_ENDED)
    assert.equal(set.stateOfAbsent(2), IDLE)
    assert.equal(set.stateOfAbsent(3), IDLE)
    set.add(stream(2049))
    assert.equal(set.stateOfAbsent(3), CLOSED_RESET_BY_US)
    set.remember(2049, CLOSED_ENDED)
    assert.equal(set.stateOfAbsent(1), CLOSED_RESET_BY_US)
  })
})

describe('StreamSet: the memory of closed streams', () => {
  test('holds the last 1024, however many there were and in whatever order they closed', () => {
    for (const count of [20, 100, 1024, 5000]) {
      const set = new StreamSet<null>()
      const ids = Array.from({ length: count }, (_, i) => 1 + 2 * i)
      for (const id of ids) set.add(stream(id))
      const late = ids.filter((id) => id % 3 === 0)
      for (const id of [...ids.filter((id) => id % 3 !== 0), ...late]) set.remember(id, CLOSED_ENDED)
      const newest = new Set(late.concat(ids.slice(-1024)))
      const known = ids.filter((id) => set.stateOfAbsent(id) === CLOSED_ENDED)
      assert.equal(known.length, Math.min(count, 1024))
      assert.ok(known.every((id) => newest.has(id) || count <= 1024))
    }
  })
})

describe('StreamList', () => {
  test('first in, first out', () => {
    const list = new StreamList<null>()
    const streams = [1, 3, 5].map(stream)
    for (const item of streams) list.push(item)
    assert.equal(list.isEmpty, false)
    assert.deepEqual([list.shift()?.id, list.shift()?.id, list.shift()?.id, list.shift()], [1, 3, 5, null])
    assert.equal(list.isEmpty, true)
  })

  test('removes from any place', () => {
    for (const gone of [0, 1, 2]) {
      const list = new StreamList<null>()
      const streams = [1, 3, 5].map(stream)
      for (const item of streams) list.push(item)
      list.remove(streams[gone]!)
      list.push(streams[gone]!)
      const expected = [1, 3, 5].toSpliced(gone, 1)
      assert.deepEqual([list.shift()?.id, list.shift()?.id, list.shift()?.id], [...expected, 1 + 2 * gone])
      assert.equal(list.shift(), null)
    }
  })
})
