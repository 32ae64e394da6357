/**
 * Each scenario once for each of its events and each fault: whatever breaks, at whatever moment, each call settles
 * exactly once, no resource stays open, and the next request works. In memory, with a fake clock: a failing run is the
 * same each time.
 *
 * That takes a minute, so the short run injects one in seven of the faults, always the same, and all of them in a few
 * scenarios. Each scenario begins with another fault, so that together they have each fault at each kind of event. All
 * of them are injected in the long run, and by `npm run test:soak`.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MemoryStage } from './memory-stage.ts'
import { SCENARIOS } from './scenarios.ts'
import { type TortureOptions, torture } from './torture.ts'

/**
 * One in 31 internal calls is made to throw: not a divisor of their number, so that each kind gets its turn. The long
 * run makes each one throw, also varies the number of pieces in which the origin's output arrives, and injects two
 * faults at a time.
 */
const VARIANTS: readonly (TortureOptions & { readonly pieces?: number })[] =
  process.env['VENTUNO_TORTURE'] === 'full'
    ? [{ pieces: 1 }, { pairs: 200, everyEdge: 1 }, { pieces: 7 }]
    : [{ every: 7, everyEdge: 31 }]

/** All faults in these also in the short run. */
const WHOLE: readonly string[] = ['GET', 'POST of a stream', 'pipelined']

describe('torture in memory', () => {
  const totals = { scenarios: 0, events: 0, runs: 0 }
  let count = 0
  for (const scenario of SCENARIOS) {
    for (const protocol of scenario.protocols) {
      const first = count++
      test(`${scenario.name} over ${protocol}`, async (t) => {
        for (const { pieces = 2, every = 1, ...options } of VARIANTS) {
          const { events, runs, failures } = await torture(
            scenario,
            protocol,
            (plans) => new MemoryStage(scenario, protocol, plans, pieces),
            WHOLE.includes(scenario.name) ? options : { ...options, every, first: first % every },
          )
          totals.scenarios++
          totals.events += events
          totals.runs += runs
          t.diagnostic(`${events} events, ${runs} runs`)
          assert.deepEqual(failures, [])
        }
      })
    }
  }
  test('all of them', (t) => {
    t.diagnostic(`${totals.scenarios} scenarios, ${totals.events} events, ${totals.runs} runs`)
  })
})
