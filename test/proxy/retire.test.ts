/**
 * `retire()` of the agents with proxies, alone and in other dispatchers: a request that runs finishes on its
 * connection, the next one gets another, and nothing is left of those before.
 */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import {
  Dispatcher1Wrapper,
  EnvHttpProxyAgent,
  interceptors,
  type ProxyAgent,
  RetryAgent,
  Socks5ProxyAgent,
} from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { eventually } from '../support/fake-clock.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, WIRES, type Wire } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

type Retirable = Pick<ProxyAgent, 'retire' | 'request'>

const tls = { ca: authority }

async function check(
  t: TestContext,
  wire: Wire,
  agent: Retirable,
  accepted: readonly Socket[],
): Promise<void> {
  let answer: (() => void) | null = null
  const origin = await startOrigin(t, wire, (request, response) => {
    if (request.url === '/slow') answer = () => response.end('slow')
    else response.end('quick')
  })
  const get = async (path: string): Promise<string> => {
    const { body } = await agent.request({ origin: origin.url, path, method: 'GET' })
    return body.text()
  }
  assert.equal(await get('/quick'), 'quick')
  const slow = get('/slow')
  await eventually(() => answer !== null)
  const before = [...accepted]
  agent.retire()
  assert.equal(await get('/quick'), 'quick')
  assert.ok(accepted.length > before.length, 'the next request has a connection of its own')
  answer!()
  assert.equal(await slow, 'slow')
  await eventually(() => before.every(({ destroyed }) => destroyed))
  agent.retire()
  await eventually(() => accepted.every(({ destroyed }) => destroyed))
  assert.equal(await get('/quick'), 'quick')
}

for (const wire of WIRES.filter(({ name }) => name !== 'h2c')) {
  describe(`retire() of agents with proxies, to an origin over ${wire.name}`, () => {
    for (const proxyWire of PROXY_WIRES) {
      for (const proxyTunnel of wire.secure ? [true] : [true, false]) {
        test(`ProxyAgent over ${proxyWire}, ${proxyTunnel ? 'tunnelling' : 'forwarding'}`, async (t) => {
          const proxy = await startProxy(t, proxyWire)
          await check(t, wire, proxy.agent({ proxyTunnel }), proxy.sockets)
        })
      }
    }

    test('EnvHttpProxyAgent', async (t) => {
      const proxy = await startProxy(t, 'h1')
      const options = { httpProxy: proxy.url, httpsProxy: proxy.url, noProxy: '', requestTls: tls }
      const agent = new EnvHttpProxyAgent(options)
      t.after(() => agent.destroy())
      await check(t, wire, agent, proxy.sockets)
    })

    test('Socks5ProxyAgent', async (t) => {
      const proxy = await startSocksServer(t)
      const agent = new Socks5ProxyAgent(proxy.url, { requestTls: tls })
      t.after(() => agent.destroy())
      await check(t, wire, agent, proxy.accepted)
    })

    for (const [name, wrap] of Object.entries({
      RetryAgent: (agent: ProxyAgent) => new RetryAgent(agent),
      'a composed view': (agent: ProxyAgent) => agent.compose(interceptors.retry(), interceptors.redirect()),
      Dispatcher1Wrapper: (agent: ProxyAgent) => new Dispatcher1Wrapper(agent),
    })) {
      test(`${name} around a ProxyAgent`, async (t) => {
        const proxy = await startProxy(t, 'h1')
        await check(t, wire, wrap(proxy.agent()) as Retirable, proxy.sockets)
      })
    }
  })
}

test('the certificates of targets and proxies are asked for again', async (t) => {
  const proxy = await startProxy(t, 'h1+tls')
  const asked: string[] = []
  const ask = (whose: string) => () => {
    asked.push(whose)
    return authority
  }
  const agent = proxy.agent({ requestTls: { ca: ask('target') }, proxyTls: { ca: ask('proxy') } })
  const origin = await startOrigin(t, WIRES[1]!, (_, response) => void response.end('ok'))
  for (let i = 1; i <= 2; i++) {
    const { body } = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
    await body.dump()
    assert.deepEqual(asked.splice(0), ['proxy', 'target'])
    agent.retire()
  }
})
