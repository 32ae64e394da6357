import { Agent, BalancedPool, Client, type Dispatcher, Pool, RoundRobinPool } from 'undici'

const options: Pool.Options = {
  connections: 10,
  pipelining: 2,
  keepAliveTimeout: 1000,
  keepAliveMaxTimeout: 2000,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxRequestsPerClient: 100,
  clientTtl: 1000,
  connect: { rejectUnauthorized: false, timeout: 100, ca: 'x' },
  factory: (origin, opts) => new Client(origin, opts),
  allowH2: false,
}
export const pool = new Pool('http://localhost', options)
export const { connected, free, pending, queued, running, size } = pool.stats
export const agent = new Agent({ ...options, factory: (origin, opts) => new Pool(origin, opts) })
export const balanced = new BalancedPool(['http://a', 'http://b'], {
  factory: (origin, opts) => new Pool(origin, opts),
})
balanced.addUpstream('http://c').removeUpstream('http://a')
export const upstreams: string[] = balanced.upstreams
export const robin: Dispatcher = new RoundRobinPool('http://localhost', { connections: 2 })
export const closed: boolean[] = [pool.closed, agent.destroyed]
