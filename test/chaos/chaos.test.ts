/**
 * Thousands of requests to an origin that misbehaves at random, through a client, a pool and an agent. Whatever it
 * does, each request settles exactly once, no response goes to another request, nothing is processed twice unless it
 * was refused, and nothing is left open. A test's name contains its seed; in memory the run is the same each time.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WIRES } from '../support/wire.ts'
import { MemoryChaos } from './memory-chaos.ts'
import { type ChaosReport, summary } from './report.ts'
import { SocketChaos } from './socket-chaos.ts'

/** The last ones once found a bug. */
const SEEDS = [...Array.from({ length: 24 }, (_, index) => 2100 + index), 123_254, 123_258]
const REQUESTS = 150
/** Seeds that once found a bug. */
const SOCKET_SEEDS = [700_002, 700_007]
const SOCKET_REQUESTS = 100

function check(report: ChaosReport): void {
  assert.deepEqual(report.problems.slice(0, 10), [], summary(report))
  assert.equal(report.lost, 0)
}

describe('chaos', () => {
  for (const seed of SEEDS) {
    test(`in memory, seed ${seed}`, async (t) => {
      const report = await new MemoryChaos(seed, REQUESTS).run()
      t.diagnostic(summary(report))
      check(report)
      // Some requests fail, but not all.
      assert.ok(report.succeeded > 0 && report.faults.size > 0, summary(report))
    })
  }

  test('a seed leads to the same run each time', async () => {
    const [first, second] = [await new MemoryChaos(7, 60).run(), await new MemoryChaos(7, 60).run()]
    assert.equal(first.trace, second.trace)
    assert.deepEqual([...first.faults], [...second.faults])
    const other = await new MemoryChaos(8, 60).run()
    assert.notEqual(first.trace, other.trace)
  })

  for (const wire of WIRES) {
    for (const seed of SOCKET_SEEDS) {
      test(`over ${wire.name}, seed ${seed}`, async (t) => {
        const report = await new SocketChaos(seed, SOCKET_REQUESTS, wire).run()
        t.diagnostic(summary(report))
        check(report)
      })
    }
  }
})
