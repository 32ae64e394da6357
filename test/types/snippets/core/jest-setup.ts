// Helpers of a test setup around a MockAgent.
import {
  type Dispatcher,
  getGlobalDispatcher,
  type Interceptable,
  MockAgent,
  MockPool,
  setGlobalDispatcher,
} from 'undici'

let original: Dispatcher
let agent: MockAgent
export function beforeEach(): void {
  original = getGlobalDispatcher()
  agent = new MockAgent({ connections: 1, keepAliveTimeout: 10 })
  agent.disableNetConnect()
  agent.enableNetConnect(/127\.0\.0\.1/)
  setGlobalDispatcher(agent)
}
export async function afterEach(): Promise<void> {
  agent.assertNoPendingInterceptors({ pendingInterceptorsFormatter: { format: (list) => `${list.length}` } })
  await agent.close()
  setGlobalDispatcher(original)
}
export function reply<T extends object>(path: string | RegExp, body: T, status = 200): void {
  pool()
    .intercept({ path, method: 'GET' })
    .reply<T>(status, body, { headers: { 'content-type': 'application/json' } })
    .persist()
}
export function echo(path: string): void {
  pool()
    .intercept({ path, method: 'POST', body: (text) => text.includes('a'), query: { a: 1 } })
    .reply(({ body, headers, method }) => ({
      statusCode: 200,
      data: JSON.stringify({ body, headers, method }),
    }))
    .times(2)
}
export function fail(path: string): void {
  pool()
    .intercept({ path, headers: { authorization: (value) => value.startsWith('Bearer ') } })
    .replyWithError(new Error('no'))
    .delay(5)
}
export const paths = (): string[] =>
  agent.pendingInterceptors().map(({ method, path, origin }) => `${method} ${origin}${path}`)
export const isPool = (value: Interceptable): value is MockPool => value instanceof MockPool
function pool(): MockPool {
  const found = agent.get<MockPool>('http://a.test')
  found.intercept({ path: '/' }).defaultReplyHeaders({ a: 'b' })
  return found
}
