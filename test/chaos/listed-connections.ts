/** The checks of `connections()`: it agrees with `stats`, and in the end with what the server counts. */
import type { Agent, Client, ClientStats, ConnectionSnapshot, Pool, PoolStats } from '../../src/index.ts'

type Listing = Client | Pool | Agent

/** Holds at any moment. */
export function disagreement(dispatcher: Listing): string | null {
  const rows = dispatcher.connections()
  const { running } = statsOf(dispatcher)
  const listed = rows.reduce((sum, row) => sum + row.running, 0)
  const wrong = rows.find((row) => row.running > row.requests || (row.running > 0 && row.state === 'idle'))
  if (wrong !== undefined) return `${nameOf(dispatcher)} lists ${JSON.stringify(wrong)}`
  if (new Set(rows.map(({ id }) => id)).size !== rows.length) return `${nameOf(dispatcher)} lists one twice`
  return listed === running
    ? null
    : `${nameOf(dispatcher)} lists ${listed} running requests, and counts ${running}`
}

/** Holds once everything has come to rest. `open`: the connections that the server has. */
export function finalDisagreement(dispatchers: readonly Listing[], open: number): string | null {
  let sum = 0
  for (const dispatcher of dispatchers) {
    const problem = disagreement(dispatcher)
    if (problem !== null) return problem
    const rows = dispatcher.connections()
    const { connected } = statsOf(dispatcher)
    const listed = rows.filter(isConnected).length
    if (listed !== connected)
      return `${nameOf(dispatcher)} lists ${listed}, and counts ${connected} connected`
    sum += rows.filter(({ state }) => state !== 'connecting' && state !== 'lingering').length
  }
  return sum === open ? null : `${sum} connections are listed, and the server has ${open}`
}

/** Over HTTP/1.1 one that drains still counts. */
function isConnected({ state, protocol }: ConnectionSnapshot): boolean {
  return state === 'idle' || state === 'active' || (state === 'draining' && protocol === 'h1')
}

function statsOf(dispatcher: Listing): { readonly connected: number; readonly running: number } {
  const { stats } = dispatcher as { stats: ClientStats | PoolStats | Agent['stats'] }
  const all = (typeof stats.running === 'number' ? [stats] : Object.values(stats)) as (
    | ClientStats
    | PoolStats
  )[]
  return {
    connected: all.reduce((sum, one) => sum + Number(one.connected), 0),
    running: all.reduce((sum, one) => sum + one.running, 0),
  }
}

function nameOf(dispatcher: Listing): string {
  return dispatcher.constructor.name
}
