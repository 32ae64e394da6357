/** Mock agents for tests: closed at the end, and without the network unless a test allows it. */
import type { TestContext } from 'node:test'
import { MockAgent, type MockAgentOptions, type MockPool } from '../../src/index.ts'

export const ORIGIN = 'http://a.test'

export interface Mocking {
  readonly agent: MockAgent
  readonly pool: MockPool
  /** The response to a request to `ORIGIN`, with its body as text. */
  send(path: string, options?: Parameters<MockAgent['request']>[0] | object): Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
  readonly trailers: Record<string, string | string[] | undefined>
}

export function mocking(t: Pick<TestContext, 'after'>, options: MockAgentOptions = {}): Mocking {
  const agent = new MockAgent(options)
  agent.disableNetConnect()
  t.after(() => agent.destroy())
  return {
    agent,
    pool: agent.get(ORIGIN),
    send: async (path, options = {}) => {
      const { statusCode, headers, body, trailers } = await agent.request({
        origin: ORIGIN,
        path,
        method: 'GET',
        ...options,
      })
      return { status: statusCode, headers, text: await body.text(), trailers }
    },
  }
}
