// Memory that a request takes while it waits for its response.
import { difference, settledMemory } from './memory.mjs'
import { once, openSession } from './session.mjs'

export async function measure(job) {
  const { count, path, wire } = job.scenario
  // One more than are kept in flight, for the request that asks how many are.
  const session = await openSession(job, { connections: wire === 'h1' ? count + 1 : 1, lanes: count + 1 })
  await once(session, '/held')
  const before = settledMemory()
  for (let i = 0; i < count; i++) once(session, path).catch(() => {})
  while (Number(await once(session, '/held')) < count) await new Promise((resolve) => setTimeout(resolve, 20))
  const after = settledMemory()
  await session.close()
  return difference(before, after, count)
}
