// Memory that an idle connection keeps.
import { readdirSync, readlinkSync } from 'node:fs'
import { difference, settledMemory } from './memory.mjs'
import { checkBody, checkProtocol, once, openSession } from './session.mjs'

export async function measure(job) {
  const { scenario, bytes } = job
  const { count, path, wire } = scenario
  // Loads and compiles the code for the first connection, so that it is not counted.
  const first = await openSession(job)
  await checkProtocol(first, wire)
  checkBody(await once(first, path), bytes)

  const openBefore = openSockets()
  const before = settledMemory()
  const sessions = wire === 'h1' ? [await openSession(job, { connections: count })] : []
  while (sessions.length < (wire === 'h1' ? 1 : count)) sessions.push(await openSession(job))
  const each = count / sessions.length
  await Promise.all(sessions.flatMap((session) => Array.from({ length: each }, () => once(session, path))))
  // The next turns release the remains of finished requests.
  await new Promise((resolve) => setTimeout(resolve, 100))
  const open = openSockets() - openBefore
  if (open !== count) throw new Error(`${open} connections where ${count} are measured`)
  const after = settledMemory()
  for (const session of [first, ...sessions]) await session.close()
  return difference(before, after, count)
}

/** Asks the kernel: idle sockets do not keep the process alive, so Node does not list them as active. */
function openSockets() {
  let count = 0
  for (const descriptor of readdirSync('/proc/self/fd')) {
    try {
      if (readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('socket:')) count++
    } catch {
      // The descriptor of the listing itself is closed by now.
    }
  }
  return count
}
