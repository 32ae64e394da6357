// Full torture, then chaos with new seeds until the time is up: `npm run test:soak -- --minutes 10`. `--seed n` starts
// the seeds at n (a seed that a failure prints replays exactly in memory), `--chaos` skips the torture. Prints a
// summary; fails with the list of problems.
import { parseArgs } from 'node:util'
import { MemoryChaos } from '../test/chaos/memory-chaos.ts'
import { type ChaosReport, faultCount, summary } from '../test/chaos/report.ts'
import { SocketChaos } from '../test/chaos/socket-chaos.ts'
import { WIRES } from '../test/support/wire.ts'
import { MemoryStage } from '../test/torture/memory-stage.ts'
import { SCENARIOS } from '../test/torture/scenarios.ts'
import { SocketOrigin, SocketStage } from '../test/torture/socket-stage.ts'
import { type TortureResult, torture } from '../test/torture/torture.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
    chaos: { type: 'boolean', default: false },
  },
})

/** One run in so many goes over real sockets. */
const SOCKETS_EVERY = 20
const REQUESTS = 200
const SOCKET_REQUESTS = 100

/** Runs with two faults at a time, for each scenario. */
const PAIRS = 300

let failed = false

function complain(what: string): void {
  failed = true
  console.error(what)
}

async function tortureAll(seed: number): Promise<void> {
  const totals = { scenarios: 0, events: 0, runs: 0 }
  const count = ({ events, runs, failures }: TortureResult): void => {
    totals.scenarios++
    totals.events += events
    totals.runs += runs
    for (const failure of failures) complain(failure)
  }
  for (const scenario of SCENARIOS) {
    for (const protocol of scenario.protocols) {
      for (const [pieces, pairs] of [
        [1, 0],
        [2, PAIRS],
        [7, 0],
      ] as const) {
        count(
          await torture(scenario, protocol, (plans) => new MemoryStage(scenario, protocol, plans, pieces), {
            pairs,
            seed,
          }),
        )
      }
    }
  }
  console.log(`torture in memory: ${told(totals)}`)
  totals.scenarios = totals.events = totals.runs = 0
  for (const wire of WIRES) {
    const origin = await SocketOrigin.start(wire)
    for (const scenario of SCENARIOS) {
      // A pool would need a separate wire, and the others wait for time to pass.
      const protocol = wire.multiplexes ? 'h2' : 'h1'
      if (!scenario.protocols.includes(protocol) || scenario.pool !== undefined) continue
      if (scenario.expires || scenario.waits) continue
      count(await torture(scenario, wire.name, (plans) => new SocketStage(scenario, origin, plans)))
    }
    await origin.close()
  }
  console.log(`torture over sockets: ${told(totals)}`)
}

function told({ scenarios, events, runs }: { scenarios: number; events: number; runs: number }): string {
  return `${scenarios} scenarios, ${events} events, ${runs} runs`
}

async function chaosUntil(end: number, firstSeed: number): Promise<void> {
  const totals = { seeds: 0, requests: 0, succeeded: 0, faults: 0, connections: 0, lost: 0 }
  for (let seed = firstSeed; Date.now() < end; seed++) {
    const report = await chaos(seed, totals.seeds)
    totals.seeds++
    totals.requests += report.requests
    totals.succeeded += report.succeeded
    totals.faults += faultCount(report)
    totals.connections += report.connections
    totals.lost += report.lost
    if (report.problems.length > 0) complain(`${summary(report)}\n${report.problems.slice(0, 10).join('\n')}`)
  }
  const { seeds, requests, succeeded, faults, connections, lost } = totals
  console.log(
    `chaos: ${seeds} seeds from ${firstSeed}, ${requests} requests, ${succeeded} succeeded, ` +
      `${faults} faults injected, ${connections} connections, ${lost} lost requests`,
  )
}

function chaos(seed: number, run: number): Promise<ChaosReport> {
  if (run % SOCKETS_EVERY !== SOCKETS_EVERY - 1) return new MemoryChaos(seed, REQUESTS).run()
  const wire = WIRES[Math.floor(run / SOCKETS_EVERY) % WIRES.length]!
  return new SocketChaos(seed, SOCKET_REQUESTS, wire).run()
}

const seed = Number(values.seed)
if (!values.chaos) await tortureAll(seed)
await chaosUntil(Date.now() + Number(values.minutes) * 60_000, seed)
process.exitCode = failed ? 1 : 0
