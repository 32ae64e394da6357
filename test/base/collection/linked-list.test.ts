import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Linked, LinkedList } from '../../../src/base/collection/linked-list.ts'

interface Item extends Linked<Item> {
  readonly id: number
}

function contents(list: LinkedList<Item>): Item[] {
  const items: Item[] = []
  for (let item = list.first; item !== null; item = item.next) items.push(item)
  return items
}

describe('LinkedList', () => {
  test('behaves like an array under any sequence of operations', () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant(-1) },
      { weight: 1, arbitrary: fc.constant(-2) },
      { weight: 2, arbitrary: fc.nat() },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const list = new LinkedList<Item>()
        const model: Item[] = []
        let id = 0
        for (const position of steps) {
          if (position === -1) {
            const item: Item = { id: id++, previous: null, next: null, listedIn: null }
            list.push(item)
            model.push(item)
          } else if (position === -2) {
            assert.equal(list.shift(), model.shift() ?? null)
          } else if (model.length > 0) {
            const [item] = model.splice(position % model.length, 1)
            list.remove(item!)
            assert.deepEqual([item!.previous, item!.next, item!.listedIn], [null, null, null])
          }
          assert.equal(list.size, model.length)
          assert.deepEqual(
            contents(list).map((item) => item.id),
            model.map((item) => item.id),
          )
        }
      }),
    )
  })
})
