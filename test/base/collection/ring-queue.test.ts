import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { RingQueue } from '../../../src/base/collection/ring-queue.ts'

interface Item {
  readonly id: number
}

const contents = (queue: RingQueue<Item>): (number | undefined)[] =>
  Array.from({ length: queue.size }, (_, index) => queue.at(index)?.id)

describe('RingQueue', () => {
  test('is empty at first', () => {
    const queue = new RingQueue<Item>()
    assert.equal(queue.size, 0)
    assert.equal(queue.peek(), null)
    assert.equal(queue.shift(), null)
    assert.equal(queue.at(0), null)
  })

  test('behaves like an array under any sequence of operations', () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.constant('push' as const) },
      { weight: 2, arbitrary: fc.constant('unshift' as const) },
      { weight: 4, arbitrary: fc.constant('shift' as const) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const queue = new RingQueue<Item>()
        const model: Item[] = []
        let id = 0
        for (const name of steps) {
          const item = { id: id++ }
          if (name === 'push') {
            queue.push(item)
            model.push(item)
          } else if (name === 'unshift') {
            queue.unshift(item)
            model.unshift(item)
          } else {
            assert.equal(queue.shift(), model.shift() ?? null)
          }
          assert.equal(queue.peek(), model[0] ?? null)
          assert.deepEqual(
            contents(queue),
            model.map((kept) => kept.id),
          )
        }
      }),
    )
  })

  test('works on after a burst that made it give memory back', () => {
    const queue = new RingQueue<Item>()
    for (let id = 0; id < 5000; id++) queue.push({ id })
    for (let id = 0; id < 5000; id++) assert.equal(queue.shift()?.id, id)
    assert.equal(queue.shift(), null)
    queue.push({ id: 1 })
    queue.unshift({ id: 0 })
    assert.deepEqual(contents(queue), [0, 1])
  })
})
