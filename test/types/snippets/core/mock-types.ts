// The types of mocks by name.
import type { Interceptable, MockAgent, MockCallHistory, MockCallHistoryLog, MockPool } from 'undici'
import type { MockInterceptor } from 'undici/types/mock-interceptor.js'

export const options: MockInterceptor.Options = { path: '/', method: 'GET' }
export const reply: MockInterceptor.MockReplyOptionsCallback<{ a: number }> = () => ({
  statusCode: 200,
  data: { a: 1 },
})
export const handler: MockInterceptor.MockResponseDataHandler<{ a: number }> = () => ({ a: 1 })
export const response: MockInterceptor.MockResponseOptions = { headers: { a: 'b' } }
export const agentOptions: MockAgent.Options = {
  enableCallHistory: true,
  acceptNonStandardSearchParameters: true,
}
export function prepare(target: Interceptable): void {
  target.intercept(options).reply(200)
}
export function last(history: MockCallHistory): string | undefined {
  const log: MockCallHistoryLog | undefined = history.lastCall()
  return log?.fullUrl
}
export function pooled(agent: MockAgent, pool: MockPool): void {
  agent.get('http://localhost').intercept(options).reply(204)
  pool.intercept(options).reply(204, '').times(1)
}
export type Pending = ReturnType<MockAgent['pendingInterceptors']>[number]
