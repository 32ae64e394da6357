// One million requests, and the heap after a collection on the way: it must stay where it was.
import { Lanes } from './lanes.mjs'
import { settledMemory } from './memory.mjs'
import { checkProtocol, openSession } from './session.mjs'

const TOTAL = Number(process.env.BENCH_MILLION ?? 1_000_000)
const STEPS = 10

export async function measure(job) {
  const { scenario, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  const heaps = []
  let elapsed = 0
  for (let step = 1; step <= STEPS; step++) {
    const begin = performance.now()
    await new Lanes(session, scenario.path, bytes).run(scenario.lanes, TOTAL / STEPS)
    elapsed += performance.now() - begin
    const { heapUsed, rss } = settledMemory()
    heaps.push(heapUsed / 1024)
    const done = ((step * TOTAL) / STEPS).toLocaleString('en')
    console.error(`  ${done} requests: heap ${kilobytes(heapUsed)} KB, resident ${kilobytes(rss)} KB`)
  }
  await session.close()
  return { rps: TOTAL / (elapsed / 1000), first: heaps[0], last: heaps.at(-1) }
}

function kilobytes(bytes) {
  return Math.round(bytes / 1024).toLocaleString('en')
}
