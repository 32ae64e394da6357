import {
  type Dispatcher,
  getGlobalDispatcher,
  type Interceptable,
  MockAgent,
  type MockCallHistory,
  type MockClient,
  type MockPool,
  mockErrors,
  setGlobalDispatcher,
} from 'undici'
import type { MockInterceptor } from 'undici/types/mock-interceptor.js'
export function withMock<T>(fn: (pool: Interceptable, agent: MockAgent) => Promise<T>): Promise<T> {
  const before: Dispatcher = getGlobalDispatcher()
  const agent = new MockAgent<{ connections: 1 } & MockAgent.Options>({
    connections: 1,
    enableCallHistory: true,
  } as { connections: 1 } & MockAgent.Options)
  agent.disableNetConnect()
  agent.enableNetConnect(/local/)
  agent.enableNetConnect((h) => h === 'a')
  agent.enableNetConnect('x')
  setGlobalDispatcher(agent)
  return fn(agent.get('http://a'), agent).finally(async () => {
    agent.assertNoPendingInterceptors()
    await agent.close()
    setGlobalDispatcher(before)
  })
}
export function reply<TData extends object>(
  pool: MockPool,
  path: string | RegExp | ((p: string) => boolean),
  data: TData,
) {
  return pool
    .intercept({
      path,
      method: 'POST',
      body: (b) => b.includes('x'),
      headers: (h) => h['a'] === 'b',
      query: { a: 1 },
    })
    .reply<TData>(200, data, { headers: { 'content-type': 'application/json' } })
    .persist()
}
const agent = new MockAgent({ connections: 1 })
const client: MockClient = agent.get<MockClient>('http://a')
const pool = agent.get<MockPool>(/a/)
const any = agent.get((o: string) => o.startsWith('x'))
client.intercept({ path: '/' }).replyWithError(new TypeError('x')).times(3)
pool.intercept({ path: '/a' }).replyWithError<Error>(new Error('a'))
pool.intercept({ path: '/b', method: (m) => m === 'GET' }).reply(() => ({ statusCode: 200, data: 'x' }))
pool.intercept({ path: '/c' }).reply(201, ({ headers, body, origin, path, method }) => {
  console.log(headers, body, origin, path, method)
  return { a: 1 }
})
const h: MockCallHistory | undefined = agent.getCallHistory()
export const logs = [
  h?.calls().map((c) => c.toMap()),
  h?.lastCall()?.body,
  h?.filterCalls({ path: '/a' }),
  h?.firstCall()?.headers,
  any,
]
export const pending = agent.pendingInterceptors().map((p) => p.path)
export const opt: MockInterceptor.Options = { path: '/', method: 'GET' }
export const cb: MockInterceptor.MockReplyOptionsCallback = (o) => ({
  statusCode: 200,
  data: { path: o.path },
})
export const e = new mockErrors.MockNotMatchedError('x') instanceof Error
