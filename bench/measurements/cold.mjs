// A process that has just started: the import, the first request and the next hundred, one after the other.
import { checkBody, once, openSession } from './session.mjs'

const MORE = 100

export async function measure(job) {
  const { scenario, bytes } = job
  const cpu = process.cpuUsage()
  const times = [performance.now()]
  const session = await openSession(job)
  times.push(performance.now())
  checkBody(await once(session, scenario.path), bytes)
  times.push(performance.now())
  for (let i = 0; i < MORE; i++) checkBody(await once(session, scenario.path), bytes)
  times.push(performance.now())
  const { user, system } = process.cpuUsage(cpu)
  await session.close()
  const [start, imported, first, end] = times
  return {
    ms: end - start,
    import: imported - start,
    first: first - imported,
    hundred: end - first,
    cpu: (user + system) / 1000,
  }
}
