import {
  Agent,
  BalancedPool,
  Client,
  Dispatcher1Wrapper,
  H2CClient,
  type Pool,
  RoundRobinPool,
  SnapshotAgent,
} from 'undici'
export const a = (p: Pool): number =>
  p.stats.connected + p.stats.free + p.stats.pending + p.stats.queued + p.stats.running + p.stats.size
export const b = (s: Pool['stats']) => s.size
export const c = (ag: Agent) =>
  Object.entries(ag.stats).map(([k, v]) => [k, v.connected, 'free' in v ? v.free : 0])
export const d = new RoundRobinPool('http://x', { connections: 1 })
export const e = new BalancedPool(['http://a']).addUpstream('http://b').removeUpstream('http://c').upstreams
export const f = new H2CClient('http://x', { pipelining: 1 })
export const g = new SnapshotAgent({
  mode: 'record',
  snapshotPath: 'x',
  matchHeaders: ['a'],
  ignoreHeaders: [],
  excludeHeaders: ['b'],
  autoFlush: true,
  flushInterval: 1,
})
export const h = async () => {
  await g.loadSnapshots()
  await g.saveSnapshots()
  g.getRecorder()
  g.getMode()
  g.clearSnapshots()
}
export const w = new Dispatcher1Wrapper(new Agent())

export const cl = new Client(new URL('http://x'))
cl.pipelining = 5
