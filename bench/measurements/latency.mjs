// Percentiles of an open loop. It spins instead of sleeping because timers have a resolution of a millisecond; that makes
// the CPU time of this run meaningless.
import { paced, percentiles } from './pace.mjs'
import { checkProtocol, openSession } from './session.mjs'

export async function measure(job) {
  const { scenario, seconds, warmup, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  await paced(session, scenario, warmup, bytes, setImmediate)
  const at = percentiles(await paced(session, scenario, seconds, bytes, setImmediate))
  await session.close()
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999) }
}
