// One million requests (or --requests), with the heap after a collection at intervals: it must not grow.
import { Lanes } from './lanes.mjs'
import { settledMemory } from './memory.mjs'
import { checkProtocol, openSession } from './session.mjs'

const STEPS = 10

export async function measure(job) {
  const { scenario, bytes, requests } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  const heaps = []
  let elapsed = 0
  for (let step = 1; step <= STEPS; step++) {
    const begin = performance.now()
    await new Lanes(session, scenario.path, bytes).run(scenario.lanes, requests / STEPS)
    elapsed += performance.now() - begin
    const { heapUsed, rss } = settledMemory()
    heaps.push(heapUsed / 1024)
    const done = ((step * requests) / STEPS).toLocaleString('en')
    console.error(`  ${done} requests: heap ${kilobytes(heapUsed)} KB, resident ${kilobytes(rss)} KB`)
  }
  await session.close()
  return {
    rps: requests / (elapsed / 1000),
    first: heaps[0],
    last: heaps.at(-1),
    growth: heaps.at(-1) / heaps[0],
  }
}

function kilobytes(bytes) {
  return Math.round(bytes / 1024).toLocaleString('en')
}
