/** Ports of the loopback address for servers that cannot report which one they chose. */
import { once } from 'node:events'
import net from 'node:net'

/**
 * Below the range from which the system assigns ports (RFC 6335 §6 and Linux's own, which starts at 32768): an outgoing
 * connection never takes a port between our check and the server's start.
 */
const FIRST = 20_000
const LAST = 32_700
const ATTEMPTS = 1_000

const given = new Set<number>()

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if (given.has(port) || !(await isFree(port))) continue
    given.add(port)
    return port
  }
  throw new Error('no free port')
}

export async function freePorts<const Names extends readonly string[]>(
  names: Names,
): Promise<Record<Names[number], number>> {
  const ports: Record<string, number> = {}
  for (const name of names) ports[name] = await freePort()
  // Every name was just assigned one.
  return ports as Record<Names[number], number>
}

async function isFree(port: number): Promise<boolean> {
  const server = net.createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return true
  } catch {
    return false
  }
}
