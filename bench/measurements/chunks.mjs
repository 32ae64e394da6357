// Long responses of many small chunks: chunks per second, and for each the CPU time of this process and the memory
// allocated on its heap. A library may join chunks that arrived together; the chunks that the server sent are counted.
import { CHUNKS } from '../chunks.mjs'
import { measure as measureRequests } from './throughput.mjs'

export async function measure(job) {
  const { rps, cpu, garbage } = await measureRequests(job)
  return { cps: rps * CHUNKS, cpu: cpu / CHUNKS, garbage: garbage / CHUNKS }
}
