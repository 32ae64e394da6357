// Memory that a connection keeps while nothing happens on it.
import { difference, settledMemory } from './memory.mjs'
import { checkBody, checkProtocol, once, openSession } from './session.mjs'

export async function measure(job) {
  const { scenario, bytes } = job
  const { count, path, wire } = scenario
  // Loads and compiles what the first connection needs, so that it is not counted.
  const first = await openSession(job)
  await checkProtocol(first, wire)
  checkBody(await once(first, path), bytes)

  const before = settledMemory()
  const sessions = wire === 'h1' ? [await openSession(job, { connections: count })] : []
  while (sessions.length < (wire === 'h1' ? 1 : count)) sessions.push(await openSession(job))
  const each = count / sessions.length
  await Promise.all(sessions.flatMap((session) => Array.from({ length: each }, () => once(session, path))))
  // What a finished request leaves behind goes in the next turns.
  await new Promise((resolve) => setTimeout(resolve, 100))
  const open = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  if (open < count) throw new Error(`${open} connections where ${count} are measured`)
  const after = settledMemory()
  for (const session of [first, ...sessions]) await session.close()
  return difference(before, after, count)
}
