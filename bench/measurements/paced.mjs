// A process that sends requests at a fixed rate and sleeps in between: CPU time and turns of the event loop for each
// request, and percentiles of the latency.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { burst, paced, percentiles } from './pace.mjs'
import { checkProtocol, openSession } from './session.mjs'

/** Requests for the compilers. */
const WARMUP_REQUESTS = 5000
/** Seconds at the measured pace: after a burst, the compilers go on for some seconds of a process that sleeps. */
const WARMUP_SECONDS = 5
/** Milliseconds in which the process comes to rest. */
const REST = 300

export async function measure(job) {
  const { scenario, seconds, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  await burst(session, { ...scenario, connections: 1, lanes: 30 }, WARMUP_REQUESTS)
  const expected = session.isClock ? null : bytes
  await paced(session, scenario, WARMUP_SECONDS, expected)
  await sleep(REST)
  const turns = turnMeter()
  const from = process.cpuUsage()
  const latencies = await paced(session, scenario, seconds, expected)
  const { user, system } = process.cpuUsage(from)
  const count = latencies.length
  const metrics = { cpu: (user + system) / count, turns: turns() / count }
  await session.close()
  const at = percentiles(latencies)
  return { ...metrics, p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}

/** Turns of the event loop so far; NaN where the runtime does not count them. */
function turnMeter() {
  const count = () => performance.nodeTiming.uvMetricsInfo?.loopCount ?? Number.NaN
  const from = count()
  return () => count() - from
}
