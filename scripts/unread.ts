// A program that leaves every second body unread, against an origin that misbehaves, over all wires, until the time
// is up and enough requests were made: `npm run test:unread -- --minutes 10 --requests 100000 --seed 1`. The process
// must survive, each request must settle, no socket and no timer may be left, and memory must not grow.
import { parseArgs } from 'node:util'
import { CarelessRun, type Habit } from '../test/chaos/careless-run.ts'
import { Random } from '../test/chaos/random.ts'
import { handles, memory } from '../test/load/watch.ts'
import { WIRES } from '../test/support/wire.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
  },
})

/** Requests of one round. Bodies that never release their connection block later requests. */
const REQUESTS: Readonly<Record<Habit, number>> = { small: 1_000, limited: 400, endless: 100 }
const HABITS = Object.keys(REQUESTS) as Habit[]

/** Rounds over all wires and habits after which all caches are filled and all code is compiled. */
const WARM_UP = 3
const MAX_GROWTH = 24 * 1024 * 1024

const uncaught: unknown[] = []
process.on('uncaughtException', (error) => uncaught.push(error))
process.on('unhandledRejection', (error) => uncaught.push(error))

const totals = { requests: 0, succeeded: 0, unread: 0, connections: 0 }
const problems: string[] = []
const random = new Random(Number(values.seed))
const end = Date.now() + Number(values.minutes) * 60_000
const before = handles()
let level = 0
let rounds = 0

while ((Date.now() < end || totals.requests < Number(values.requests)) && problems.length === 0) {
  for (const wire of WIRES) {
    for (const habit of HABITS) {
      const { seed } = new Random(random.next())
      const report = await new CarelessRun(wire, habit, new Random(seed)).run(REQUESTS[habit])
      totals.requests += report.requests
      totals.succeeded += report.succeeded
      totals.unread += report.unread
      totals.connections += report.connections
      for (const problem of report.problems) problems.push(`${wire.name}, ${habit}, seed ${seed}: ${problem}`)
    }
  }
  for (const error of uncaught) problems.push(`uncaught: ${(error as Error)?.stack ?? error}`)
  rounds++
  if (rounds === WARM_UP) level = await memory()
}

const growth = (await memory()) - level
if (rounds > WARM_UP && growth > MAX_GROWTH) problems.push(`memory has grown by ${megabytes(growth)}`)
const left = handles()
if (left.length > before.length) problems.push(`handles left: ${left.join(', ')}`)

const { requests, succeeded, unread, connections } = totals
console.log(
  `seed ${values.seed}: ${requests} requests, ${succeeded} succeeded, ${unread} bodies left unread, ${connections} connections; ` +
    (rounds > WARM_UP
      ? `memory ${megabytes(growth)} above that after ${WARM_UP} rounds`
      : `${rounds} rounds`),
)
for (const problem of problems.slice(0, 20)) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
