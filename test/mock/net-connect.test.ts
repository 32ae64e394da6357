/** Which requests without a match go to the network. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MockAgent } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { mocking } from './mocking.ts'

type Rule = (agent: MockAgent, port: number) => void

const RULES: [string, boolean, Rule][] = [
  ['by default', true, (agent) => agent.reset()],
  ['enableNetConnect()', true, (agent) => agent.enableNetConnect()],
  ['disableNetConnect()', false, (agent) => agent.disableNetConnect()],
  ['a host with its port', true, (agent, port) => agent.enableNetConnect(`localhost:${port}`)],
  ['a host without its port', false, (agent) => agent.enableNetConnect('localhost')],
  ['a RegExp', true, (agent) => agent.enableNetConnect(/^localhost:\d+$/)],
  ['another RegExp', false, (agent) => agent.enableNetConnect(/example/)],
  ['a function', true, (agent) => agent.enableNetConnect((host) => host.startsWith('localhost'))],
  ['a function that returns no boolean', false, (agent) => agent.enableNetConnect(() => 1 as never)],
  [
    'several matchers',
    true,
    (agent, port) => {
      agent.enableNetConnect('example.com')
      agent.enableNetConnect(`localhost:${port}`)
      agent.enableNetConnect('example.org')
    },
  ],
  [
    'a list after on or off begins anew',
    false,
    (agent, port) => {
      agent.enableNetConnect(`localhost:${port}`)
      agent.disableNetConnect()
      agent.enableNetConnect('example.com')
    },
  ],
]

describe('a request without a match', () => {
  for (const [name, isSent, rule] of RULES) {
    test(`${name}: ${isSent ? 'sent' : 'fails'}`, async (t) => {
      let hits = 0
      const origin = await startOrigin(t, WIRES[0]!, (_, response) => {
        hits++
        response.end('real')
      })
      const { agent } = mocking(t)
      rule(agent, origin.port)
      agent.get(origin.url).intercept({ path: '/mocked' }).reply(200, 'mocked')
      const get = (path: string): Promise<{ body: { text(): Promise<string> } }> =>
        agent.request({ origin: origin.url, path, method: 'GET' })
      assert.equal(await (await get('/mocked')).body.text(), 'mocked')
      assert.equal(hits, 0)
      // The second finds its interceptor used up.
      for (const path of ['/other', '/mocked']) {
        if (isSent) assert.equal(await (await get(path)).body.text(), 'real')
        else assert.equal((await failure(get(path))).code, 'UND_MOCK_ERR_MOCK_NOT_MATCHED')
      }
      assert.equal(hits, isSent ? 2 : 0)
    })
  }

  test('a request of a pool without a match goes to its origin', async (t) => {
    const origin = await startOrigin(t, WIRES[0]!, (request, response) => response.end(request.url))
    const { agent } = mocking(t)
    agent.enableNetConnect()
    const { body } = await agent.get(origin.url).request({ path: '/own', method: 'GET' })
    assert.equal(await body.text(), '/own')
  })

  test('enableNetConnect refuses other matchers', (t) => {
    const { agent } = mocking(t)
    for (const matcher of [5, null, {}, true]) {
      assert.throws(() => agent.enableNetConnect(matcher as never), {
        name: 'InvalidArgumentError',
        message: 'Unsupported matcher. Must be one of String|Function|RegExp.',
      })
    }
  })

  test('enableNetConnect: a default port is not part of the host', async (t) => {
    const { agent } = mocking(t, { connect: (_, callback) => callback(new Error('to the network'), null) })
    agent.enableNetConnect('a.test')
    const error = await failure(agent.request({ origin: 'http://a.test:80', path: '/', method: 'GET' }))
    assert.equal(error.message, 'to the network')
  })
})
