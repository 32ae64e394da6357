// Long responses of many small chunks: chunks per second, and for each the CPU time of this process and the memory
// allocated on its heap. A library may join chunks that arrived together; the chunks that the server sent are counted.
import { CHUNKS, PACED_PATH } from '../chunks.mjs'
import { meterCosts } from './costs.mjs'
import { Lanes } from './lanes.mjs'
import { checkProtocol, openSession } from './session.mjs'
import { measure as measureRequests } from './throughput.mjs'

/**
 * Paced streams of each lane, five and three seconds of them: in a process that sleeps most of the time, seconds pass
 * before the compilers are done. They take equally long, so that a time that ends in the middle of some counts them as
 * nothing, with all that they cost.
 */
const PACED = { warmup: 12, measured: 8 }

export async function measure(job) {
  const { rps, cpu, garbage } = await (job.scenario.path === PACED_PATH
    ? measureStreams(job)
    : measureRequests(job))
  return { cps: rps * CHUNKS, cpu: cpu / CHUNKS, garbage: garbage / CHUNKS }
}

async function measureStreams(job) {
  const { scenario, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  const read = (streams) =>
    new Lanes(session, scenario.path, bytes).run(scenario.lanes, streams * scenario.lanes)
  await read(PACED.warmup)
  const costsOf = meterCosts()
  await read(PACED.measured)
  const costs = costsOf(PACED.measured * scenario.lanes)
  await session.close()
  return costs
}
