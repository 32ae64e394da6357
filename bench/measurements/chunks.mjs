// Long responses of many small chunks: chunks per second, and for each the CPU time of this process and the memory
// allocated on its heap. A library may join chunks that arrived together; the chunks that the server sent are counted.
import { CHUNKS, PACED_PATH } from '../chunks.mjs'
import { measure as measureRequests } from './throughput.mjs'

/** In a process that sleeps most of the time, seconds pass before the compilers are done. */
const PACED = { warmup: 5, seconds: 3 }

export async function measure(job) {
  const { rps, cpu, garbage } = await measureRequests(job.scenario.path === PACED_PATH ? longer(job) : job)
  return { cps: rps * CHUNKS, cpu: cpu / CHUNKS, garbage: garbage / CHUNKS }
}

function longer(job) {
  const { warmup, seconds } = job
  return { ...job, warmup: Math.max(warmup, PACED.warmup), seconds: Math.max(seconds, PACED.seconds) }
}
