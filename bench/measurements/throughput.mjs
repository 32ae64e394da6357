// Requests per second of a closed loop, and for each the CPU time of this process and the memory allocated on its heap.
import { setTimeout as sleep } from 'node:timers/promises'
import { meterCosts } from './costs.mjs'
import { Lanes } from './lanes.mjs'
import { checkProtocol, openSession } from './session.mjs'

export async function measure(job) {
  const { scenario, seconds, warmup, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  const lanes = new Lanes(session, scenario.path, bytes, scenario.isInProcess)
  const run = lanes.run(scenario.lanes)
  await Promise.race([sleep(warmup * 1000), run])
  const before = lanes.count
  const costsOf = meterCosts()
  await Promise.race([sleep(seconds * 1000), run])
  const count = lanes.count - before
  const costs = costsOf(count)
  lanes.stop()
  await run
  await session.close()
  if (count === 0) throw new Error('not one request in the measured time')
  return costs
}
