import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Stream } from '../../../src/protocol/http2/stream.ts'
import { StreamTable } from '../../../src/protocol/http2/stream-table.ts'
import { Recorder, StreamRecorder } from '../../support/h2-recorder.ts'

const SINK = new StreamRecorder(new Recorder())

function stream(id: number): Stream {
  return new Stream(id, SINK, 'GET', true, 0, 0)
}

function ids(table: StreamTable): number[] {
  return table.all().map(({ id }) => id)
}

describe('StreamTable', () => {
  test('StreamTable finds what was added, and nothing else', () => {
    const table = new StreamTable()
    const one = stream(1)
    table.add(one)
    assert.equal(table.get(1), one)
    assert.equal(table.get(3), undefined)
  })

  test('StreamTable keeps streams apart that want the same place, whichever of them goes', () => {
    // Eight of sixteen places are taken, and with one stride or another some of them are wanted twice.
    for (let stride = 2; stride <= 64; stride += 2) {
      for (let gone = 0; gone < 8; gone++) {
        const table = new StreamTable()
        const streams = Array.from({ length: 8 }, (_, index) => stream(1 + index * stride))
        for (const item of streams) table.add(item)
        table.remove(streams[gone]!)
        for (const [index, item] of streams.entries()) {
          assert.equal(table.get(item.id), index === gone ? undefined : item)
        }
        assert.equal(table.size, 7)
      }
    }
  })

  test('to close one of many streams takes no look at the others, also beside one that stays open', () => {
    let looks = 0
    const watched = (id: number): Stream => {
      const item = Object.create(stream(id)) as Stream
      return Object.defineProperty(item, 'id', {
        get() {
          looks++
          return id
        },
      })
    }
    const table = new StreamTable()
    table.add(watched(1))
    const open: Stream[] = []
    let next = 3
    for (; open.length < 1000; next += 2) {
      open.push(watched(next))
      table.add(open.at(-1)!)
    }
    looks = 0
    const TURNS = 5000
    for (let turn = 0; turn < TURNS; turn++, next += 2) {
      table.remove(open.shift()!)
      open.push(watched(next))
      table.add(open.at(-1)!)
    }
    assert.ok(looks < 10 * TURNS, `${looks / TURNS} looks for each stream`)
  })

  test('to remove a stream that is not there changes nothing', () => {
    const table = new StreamTable()
    table.add(stream(1))
    table.remove(stream(1))
    table.remove(stream(3))
    assert.deepEqual(ids(table), [1])
    assert.equal(table.size, 1)
  })

  test('grows, and lists streams in the order they were opened', () => {
    const table = new StreamTable()
    const expected: number[] = []
    for (let id = 1; id < 2000; id += 2) {
      table.add(stream(id))
      expected.push(id)
    }
    assert.deepEqual(ids(table), expected)
  })

  test('is a map from id to stream, whatever is opened and closed', () => {
    const step = fc.tuple(fc.constantFrom('open', 'open', 'skip', 'close'), fc.nat(400))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const table = new StreamTable()
        const model = new Map<number, Stream>()
        let next = 1
        for (const [kind, n] of steps) {
          if (kind === 'skip') next += 2 * n
          if (kind === 'open') {
            const added = stream(next)
            next += 2
            table.add(added)
            model.set(added.id, added)
          }
          const closed = kind === 'close' ? [...model.values()][n % Math.max(1, model.size)] : undefined
          if (closed !== undefined) {
            table.remove(closed)
            model.delete(closed.id)
          }
          assert.equal(table.size, model.size)
        }
        assert.deepEqual(ids(table), [...model.keys()])
        for (const [id, value] of model) assert.equal(table.get(id), value)
      }),
      { numRuns: 100 },
    )
  })
})
