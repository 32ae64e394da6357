// Clients under load: `tsx scripts/load.ts [--connections 2000] [--streams 10000]`. The origin is a separate process,
// so that memory and event-loop delay are the client's. Prints a line for each scenario; fails if a count is wrong,
// a request does not settle, or handles or memory remain.
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { ChildOrigin, type Origin } from '../test/load/origin.ts'
import {
  type Figures,
  manyConnections,
  manyStreams,
  outage,
  silentServer,
  slowConsumers,
} from '../test/load/scenarios.ts'
import { handles, handlesBackTo, memory, withLoopDelay } from '../test/load/watch.ts'

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '2000' },
    streams: { type: 'string', default: '10000' },
  },
})

/** Connections that carry the streams. */
const CARRIERS = 10

/** File descriptors for everything except the connections of a scenario. */
const SPARE_DESCRIPTORS = 100

/** Compiled code and caches stay; growth up to this size is not a leak. */
const SLACK = 24 * 2 ** 20
const GROWTH = 1.5

interface Line {
  readonly scenario: string
  readonly figures: Figures
  readonly delay: string
  readonly memory: string
}

const lines: Line[] = []

function descriptors(): number {
  const report = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } }
  }
  const soft = report.userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

async function scenario(name: string, run: () => Promise<Figures>): Promise<void> {
  const handlesBefore = handles()
  const before = await memory()
  let peak = 0
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 20)
  const { result, delay } = await withLoopDelay(run)
  clearInterval(sampler)
  await handlesBackTo(handlesBefore)
  const after = await memory()
  lines.push({
    scenario: name,
    figures: result,
    delay: `p99 ${delay.p99.toFixed(0)} ms, max ${delay.max.toFixed(0)} ms`,
    memory: `${mebibytes(before)} to ${mebibytes(after)} MiB in use, peak RSS ${mebibytes(peak)} MiB`,
  })
  console.log(`${name}: done`)
  assert.ok(after <= before * GROWTH + SLACK, `${name}: ${mebibytes(after)} MiB after ${mebibytes(before)}`)
}

async function run(): Promise<void> {
  const connections = Math.min(Number(values.connections), descriptors() - SPARE_DESCRIPTORS)
  const streams = Math.ceil(Number(values.streams) / CARRIERS)
  let origin: Origin & { readonly ports: ChildOrigin['ports'] } = await ChildOrigin.start()
  try {
    // The first run compiles the code.
    await manyConnections(origin, 10)
    await manyStreams(origin, 1, 10)
    await scenario('connections', () => manyConnections(origin, connections))
    await scenario('streams', () => manyStreams(origin, CARRIERS, streams))
    await scenario('slow consumers', () => slowConsumers(origin, 50))
    await scenario('silent server', () => silentServer(origin, 1_000, 1_000))
    await scenario('outage', () =>
      outage(
        {
          origin,
          socketPaths: null,
          down: () => origin.stop(),
          up: async () => {
            origin = await ChildOrigin.start(origin.ports)
          },
        },
        50,
      ),
    )
  } finally {
    await origin.stop()
  }
  for (const line of lines) {
    console.log(`\n${line.scenario}`)
    for (const [name, text] of Object.entries(line.figures)) console.log(`  ${name.padEnd(28)}${text}`)
    console.log(`  ${'event loop delay'.padEnd(28)}${line.delay}`)
    console.log(`  ${'memory'.padEnd(28)}${line.memory}`)
  }
}

await run()
