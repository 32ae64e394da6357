/**
 * The same over real sockets, cleartext and TLS, through a relay that cuts, kills and stalls. There are fewer runs,
 * since each opens connections: one in thirteen of the faults at each event. All of them are injected in the long run
 * and in scenarios with repeated heads.
 */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { eventually } from '../support/fake-clock.ts'
import { WIRES } from '../support/wire.ts'
import type { Plan } from './fault.ts'
import { SCENARIOS } from './scenarios.ts'
import { SocketOrigin, SocketStage } from './socket-stage.ts'
import { torture } from './torture.ts'

const REPEATED = 'one after the other on a connection'

const NAMES: readonly string[] = [
  REPEATED,
  'GET',
  'POST of bytes',
  'POST of a stream',
  'POST of a stream with trailers that come late',
  'pipelined',
  'streamed response that is paused at each piece',
  'expect-continue',
  'request() with a stream',
  'fetch()',
  'fetch() with a stream',
  'fetch() over a redirect',
  'single bytes, stream()',
  'single bytes, fetch()',
  'upgrade()',
  'connect()',
  'WebSocket',
  'GET, guarded',
  'POST of a stream, guarded',
  'WebSocket, guarded',
]

/** Stride of the short run: not a divisor of the number of faults, so that each fault gets its turn. */
const EVERY = process.env['VENTUNO_TORTURE'] === 'full' ? 1 : 13

/** Resources that keep a process alive, except those of the test runner. */
function resources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Timeout|Server/.test(name))
}

describe('torture over sockets', () => {
  const totals = { scenarios: 0, events: 0, runs: 0 }

  for (const wire of WIRES) {
    describe(`over ${wire.name}`, () => {
      let origin: SocketOrigin
      let atStart: string[]
      before(async () => {
        atStart = resources()
        origin = await SocketOrigin.start(wire)
      })

      for (const scenario of SCENARIOS.filter(({ name }) => NAMES.includes(name))) {
        test(scenario.name, async (t) => {
          const make = (plans: readonly Plan[]): SocketStage => new SocketStage(scenario, origin, plans)
          const every = scenario.name === REPEATED ? 1 : EVERY
          const { events, runs, failures } = await torture(scenario, wire.name, make, { every })
          totals.scenarios++
          totals.events += events
          totals.runs += runs
          t.diagnostic(`${events} events, ${runs} runs`)
          assert.deepEqual(failures, [])
        })
      }

      test('nothing is left', async () => {
        await origin.close()
        // The runtime releases its handles a few turns after it has closed them.
        await eventually(() => resources().length <= atStart.length)
        assert.deepEqual(resources(), atStart)
      })
    })
  }

  test('all of them', (t) => {
    t.diagnostic(`${totals.scenarios} scenarios, ${totals.events} events, ${totals.runs} runs`)
  })
})
