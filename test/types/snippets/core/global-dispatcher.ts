import {
  Agent,
  type Dispatcher,
  getGlobalDispatcher,
  MockAgent,
  ProxyAgent,
  setGlobalDispatcher,
} from 'undici'

let saved: ReturnType<typeof getGlobalDispatcher>
export const before = () => {
  saved = getGlobalDispatcher()
  const m = new MockAgent()
  setGlobalDispatcher<MockAgent>(m)
  return m
}
export const after = () => setGlobalDispatcher(saved)
export const pick = (proxy?: string): Dispatcher => (proxy ? new ProxyAgent(proxy) : new Agent())
export function choose(kind: 'a' | 'b'): Agent | ProxyAgent {
  return kind === 'a' ? new Agent() : new ProxyAgent({ uri: 'x' })
}
export const map = new Map<string, Dispatcher>([
  ['a', new Agent()],
  ['b', choose('b')],
])
export const ctor: Record<string, new () => Dispatcher> = { Agent, MockAgent }
export const closeAll = (ds: Iterable<Dispatcher>) => Promise.all([...ds].map((d) => d.close()))
export const is = (d: Dispatcher) => (d instanceof MockAgent ? d.pendingInterceptors() : [])
