import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Stream } from '../../../src/protocol/http2/stream.ts'
import { StreamTable } from '../../../src/protocol/http2/stream-table.ts'

function stream(id: number): Stream<null> {
  return new Stream(id, null, 'GET', true, 0, 0)
}

function ids(table: StreamTable<null>): number[] {
  return table.all().map(({ id }) => id)
}

describe('StreamTable', () => {
  test('finds what was added, and nothing else', () => {
    const table = new StreamTable<null>()
    const one = stream(1)
    table.add(one)
    assert.equal(table.get(1), one)
    assert.equal(table.get(3), undefined)
    // The same place as 1, 256 places on.
    assert.equal(table.get(513), undefined)
  })

  test('streams that want the same place are kept apart, whichever of them goes', () => {
    for (const gone of [1, 513, 1025, 3]) {
      const table = new StreamTable<null>()
      const streams = [1, 3, 513, 1025].map(stream)
      for (const item of streams) table.add(item)
      table.remove(streams.find(({ id }) => id === gone)!)
      for (const item of streams) assert.equal(table.get(item.id), item.id === gone ? undefined : item)
      assert.equal(table.size, 3)
    }
  })

  test('to remove a stream that is not there changes nothing', () => {
    const table = new StreamTable<null>()
    table.add(stream(1))
    table.remove(stream(1))
    table.remove(stream(3))
    assert.deepEqual(ids(table), [1])
    assert.equal(table.size, 1)
  })

  test('grows, and lists streams in the order they were opened', () => {
    const table = new StreamTable<null>()
    const expected: number[] = []
    for (let id = 1; id < 2000; id += 2) {
      table.add(stream(id))
      expected.push(id)
    }
    assert.deepEqual(ids(table), expected)
    const visited: number[] = []
    table.forEach(({ id }) => {
      visited.push(id)
    })
    assert.deepEqual(
      visited.sort((a, b) => a - b),
      expected,
    )
  })

  test('is a map from id to stream, whatever is opened and closed', () => {
    const step = fc.tuple(fc.constantFrom('open', 'open', 'skip', 'close'), fc.nat(400))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const table = new StreamTable<null>()
        const model = new Map<number, Stream<null>>()
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
