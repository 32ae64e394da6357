/** The limits of an agent over all origins, through proxies. */
import assert from 'node:assert/strict'
import net, { type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { type Dispatcher, EnvHttpProxyAgent, ProxyAgent, Socks5ProxyAgent } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { echo, readEcho } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, type TestOrigin, WIRES } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

const H1 = WIRES[0]!
const H1_TLS = WIRES[1]!

/** Counts our sockets to a port. */
function countSockets(t: TestContext, port: number): { most: number; open: number } {
  const count = { most: 0, open: 0 }
  for (const module of [net, tls]) {
    const connect = module.connect as (...args: unknown[]) => Socket
    t.mock.method(module, 'connect', (...args: unknown[]) => {
      const { port: own, socket } = args[0] as { port: unknown; socket?: unknown }
      const made = connect(...args)
      if (Number(own) !== port || socket !== undefined) return made
      count.most = Math.max(count.most, ++count.open)
      return made.once('close', () => count.open--)
    })
  }
  return count
}

interface Origins {
  readonly plain: TestOrigin
  readonly secure: TestOrigin
}

async function startOrigins(t: TestContext): Promise<Origins> {
  return { plain: await startOrigin(t, H1, echo), secure: await startOrigin(t, H1_TLS, echo) }
}

/** Five requests to each of twelve origins, half of them through TLS. */
async function visitAll(agent: Dispatcher, { plain, secure }: Origins): Promise<void> {
  const urls = Array.from({ length: 12 }, (_, i) =>
    i % 2 === 0 ? `https://o${i}.example.test:${secure.port}` : `http://o${i}.example.test:${plain.port}`,
  )
  const answers = urls.flatMap((origin) =>
    Array.from({ length: 5 }, async () => {
      const got = await readEcho(await agent.request({ origin, path: '/x', method: 'GET' }))
      assert.equal(got.url, '/x')
    }),
  )
  await Promise.all(answers)
}

for (const wire of PROXY_WIRES) {
  for (const proxyTunnel of [false, true]) {
    const kind = proxyTunnel ? 'tunnels alone' : 'tunnels and forwarded requests'
    test(`ProxyAgent with a proxy over ${wire}: ${kind}`, async (t) => {
      const origins = await startOrigins(t)
      const proxy = await startProxy(t, wire)
      const count = countSockets(t, proxy.port)
      const agent = proxy.agent({ maxConnections: 3, proxyTunnel })
      await visitAll(agent, origins)
      // One over HTTP/2 that had tunnels closes a moment after the last of them.
      const closing = wire === 'h2+tls' && !proxyTunnel ? 1 : 0
      assert.ok(count.most <= 3 + closing, `${count.most} connections`)
      await eventually(() => count.open <= 3)
      await agent.close()
      assert.equal(count.open, 0)
    })
  }
}

test('EnvHttpProxyAgent: one limit for several proxies and direct connections', async (t) => {
  const origins = await startOrigins(t)
  const proxy = await startProxy(t, 'h1')
  const direct = await startOrigin(t, H1, echo)
  const counts = [countSockets(t, proxy.port), countSockets(t, direct.port)]
  const agent = new EnvHttpProxyAgent({
    httpProxy: proxy.url,
    httpsProxy: proxy.url,
    noProxy: 'localhost',
    maxConnections: 1,
    requestTls: { ca: authority },
  })
  t.after(() => agent.destroy())
  const others = visitAll(agent, origins)
  for (let i = 0; i < 5; i++) {
    await readEcho(await agent.request({ origin: direct.url, path: '/', method: 'GET' }))
    assert.ok(counts[0]!.open + counts[1]!.open <= 1)
  }
  await others
  assert.deepEqual(
    counts.map(({ most }) => most),
    [1, 1],
  )
})

test('Socks5ProxyAgent', async (t) => {
  const origins = await startOrigins(t)
  const proxy = await startSocksServer(t)
  const count = countSockets(t, proxy.port)
  const agent = new Socks5ProxyAgent(proxy.url, { maxConnections: 2, requestTls: { ca: authority } })
  t.after(() => agent.destroy())
  await visitAll(agent, origins)
  assert.equal(count.most, 2)
})

describe('options', () => {
  test('are checked', () => {
    const wrong = { name: 'InvalidArgumentError', message: /^maxConnections must be an integer/ }
    assert.throws(() => new ProxyAgent({ uri: 'http://localhost:1', maxConnections: 0 }), wrong)
    assert.throws(() => new EnvHttpProxyAgent({ maxConnections: 0 }), wrong)
    assert.throws(() => new Socks5ProxyAgent('socks5://localhost:1', { maxConnections: 0 }), wrong)
  })

  test('are of no use with a clientFactory, whose connections nobody counts', () => {
    const clientFactory = (): never => assert.fail()
    assert.throws(() => new ProxyAgent({ uri: 'http://localhost:1', maxConnections: 1, clientFactory }), {
      name: 'InvalidArgumentError',
      message: 'maxConnections and maxIdleConnections cannot be used with a clientFactory',
    })
  })
})
