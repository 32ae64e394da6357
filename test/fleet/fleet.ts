/** Runs a fleet of processes against one origin, with one Redis, and counts what the origin gets. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type RedisServer, startRedis, TestRedisClient } from '../support/redis-server.ts'

export interface FleetRun {
  /** Requests that the origin got in each tenth of a second. */
  readonly counts: readonly number[]
  /** Commands that one member has sent to the store, per second. */
  readonly asked: number
}

/** What happens meanwhile, after so many milliseconds. */
export type Incident = (members: readonly ChildProcess[], store: RedisServer) => unknown

/** Milliseconds from the word of the store until the circuit was open in each process but the one that opened it. */
export async function runBreakers(size: number): Promise<number[]> {
  const origin = http.createServer((request, response) => {
    response.writeHead(request.url === failing ? 500 : 200).end()
  })
  let failing = ''
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`
  const store = await startRedis()
  const watcher = new TestRedisClient(store.port)
  const members = start(size, 'breaker.ts', [url, `${store.port}`])
  try {
    await Promise.all(members.map((member) => once(member, 'message')))
    const opened = members.map(async (member) => Number((await once(member, 'message'))[0]))
    await wait(1000)
    failing = `/${members[0]!.pid}`
    while (Number(await watcher.sendCommand(['EXISTS', 'ventuno:circuits'])) === 0) await wait(1)
    const word = Date.now()
    return (await Promise.all(opened)).slice(1).map((at) => at - word)
  } finally {
    for (const member of members) member.kill('SIGKILL')
    watcher.close()
    origin.closeAllConnections()
    origin.close()
    await store.stop()
  }
}

function start(size: number, name: string, args: readonly string[]): ChildProcess[] {
  const file = fileURLToPath(new URL(name, import.meta.url))
  return Array.from({ length: size }, () => fork(file, args, { execArgv: ['--import', 'tsx'] }))
}

export async function runFleet(
  size: number,
  rate: number,
  milliseconds: number,
  incidents: readonly (readonly [at: number, incident: Incident])[] = [],
): Promise<FleetRun> {
  const arrivals: number[] = []
  const origin = http.createServer((_request, response) => {
    arrivals.push(performance.now())
    response.end()
  })
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`
  const store = await startRedis()
  const members = start(size, 'member.ts', [url, `${store.port}`, `${rate}`])
  try {
    await Promise.all(members.map((member) => once(member, 'message')))
    // Until all have their share.
    await wait(1000)
    const begin = performance.now()
    const timers = incidents.map(([at, incident]) => setTimeout(() => void incident(members, store), at))
    await wait(milliseconds)
    for (const timer of timers) clearTimeout(timer)
    const counts = Array.from({ length: milliseconds / 100 }, () => 0)
    for (const at of arrivals) {
      const tenth = Math.floor((at - begin) / 100)
      if (tenth >= 0 && tenth < counts.length) counts[tenth]!++
    }
    const last = members.at(-1)!
    last.send('commands?')
    const [{ commands }] = (await once(last, 'message')) as [{ commands: number }]
    return { counts, asked: commands / (milliseconds / 1000 + 1) }
  } finally {
    for (const member of members) member.kill('SIGKILL')
    origin.closeAllConnections()
    origin.close()
    await store.stop()
  }
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
