// A burst opens many connections; then a few requests at a fixed rate keep some of them busy, while the others reach
// `keepAliveTimeout` together. Shows how long requests wait in that moment.
import { burst, paced } from './pace.mjs'
import { checkProtocol, openSession } from './session.mjs'

/** Seconds after the burst in which the connections end: the timeout is four, and timers may be coarse. */
const FROM = 3
const TO = 6.5

export async function measure(job) {
  const { scenario, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  await burst(session, { ...scenario, lanes: 30, connections: 1 }, 3000)
  await burst(session, scenario, scenario.connections * 4)
  const latencies = await paced(session, scenario, TO, bytes)
  await session.close()
  const then = Math.round(scenario.rate * FROM)
  const most = (part) => part.reduce((a, b) => Math.max(a, b), 0)
  // The first half second belongs to the burst.
  return { spike: most(latencies.subarray(then)), calm: most(latencies.subarray(scenario.rate / 2, then)) }
}
