/** The cost of a request in a pool does not depend on the number of queued requests or members. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { IndexedHeap, NOT_IN_HEAP, type Ranked } from '../../src/base/collection/indexed-heap.ts'
import { Pool } from '../../src/dispatcher/pool/pool.ts'
import { UNLESS_INSTRUMENTED } from '../support/instrumented.ts'

const handler = {
  onRequestStart() {},
  onResponseStart() {},
  onResponseData() {},
  onResponseEnd() {},
  onResponseError() {},
}

function microsecondsEach(queued: number): number {
  const pool = new Pool('http://localhost:1', { connections: 1, connect: () => {} })
  // Processor time: other programs on the machine do not count.
  const start = process.cpuUsage()
  for (let i = 0; i < queued; i++) pool.dispatch({ path: '/', method: 'GET' }, handler)
  const { user, system } = process.cpuUsage(start)
  pool.destroy().catch(() => {})
  return (user + system) / queued
}

/** Iterating over the queue would make it fifty times as expensive. */
const MAX_RATIO = 8

test('the cost of a request does not grow with what waits', UNLESS_INSTRUMENTED, () => {
  const best = (queued: number): number => Math.min(...[0, 1, 2].map(() => microsecondsEach(queued)))
  best(1000)
  const ratio = best(50_000) / best(1000)
  assert.ok(ratio < MAX_RATIO, `fifty times as much waiting: ${ratio.toFixed(2)} times the cost each`)
})

interface Item extends Ranked {
  readonly order: number
}

test('IndexedHeap: the lowest rank is on top, whatever comes, goes and changes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(15), fc.oneof(fc.constant(null), fc.nat(5))), { maxLength: 200 }),
      (steps) => {
        const heap = new IndexedHeap<Item>()
        const items = Array.from(
          { length: 16 },
          (_, order): Item => ({ rank: 0, order, heapIndex: NOT_IN_HEAP }),
        )
        const inside = new Set<Item>()
        for (const [which, rank] of steps) {
          const item = items[which]!
          if (rank === null) {
            heap.remove(item)
            inside.delete(item)
          } else {
            item.rank = rank
            heap.place(item)
            inside.add(item)
          }
          const [first] = [...inside].sort((a, b) => a.rank - b.rank || a.order - b.order)
          assert.equal(heap.peek(), first ?? null)
          assert.equal(heap.size, inside.size)
        }
      },
    ),
  )
})
