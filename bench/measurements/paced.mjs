// A process that sends requests at a fixed rate and sleeps in between: CPU time and turns of the event loop for each
// request, and percentiles of the latency.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { burst, paced, percentiles } from './pace.mjs'
import { checkProtocol, openSession } from './session.mjs'

/** Requests for the compilers, many at a time. */
const BURST_REQUESTS = 5000
/** For the compilers, too: they are done with lone requests after some 20,000, at 1,000 a second after 20 seconds. */
const WARMUP = { rate: 5000, seconds: 5 }
/** Seconds at the measured pace, before it is measured. */
const SETTLING_SECONDS = 3
/** Milliseconds in which the process comes to rest. */
const REST = 300

export async function measure(job) {
  const { scenario, seconds, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  await burst(session, { ...scenario, connections: 1, lanes: 30 }, BURST_REQUESTS)
  const expected = session.isClock ? null : bytes
  await paced(session, { ...scenario, rate: WARMUP.rate }, WARMUP.seconds, expected)
  await paced(session, scenario, SETTLING_SECONDS, expected)
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
