import { MockAgent, type MockClient, type MockPool, setGlobalDispatcher } from 'undici'

const agent = new MockAgent({ connections: 1, enableCallHistory: true })
setGlobalDispatcher(agent)
agent.disableNetConnect()
agent.enableNetConnect('localhost:3000')
agent.enableNetConnect(/local/)
agent.enableNetConnect((host) => host.endsWith('.local'))
const client = agent.get<MockClient>('http://localhost')
const pool: MockPool = agent.get<MockPool>('http://localhost')
client.intercept({ path: '/', method: 'GET' }).reply(200, 'ok')
pool
  .intercept({ path: /a/, method: 'POST', body: (body) => body.includes('x') })
  .reply(201, { id: 1 })
  .persist()
pool
  .intercept({ path: (path) => path === '/b', method: 'GET', query: { a: 1 } })
  .replyWithError(new Error('gone'))
agent.assertNoPendingInterceptors()
export const pending: string[] = agent
  .pendingInterceptors()
  .map(({ origin, path, times }) => `${origin}${String(path)}${times}`)
export const count: number = agent.getCallHistory()?.calls().length ?? 0
export const close = (): Promise<void> => agent.close()
