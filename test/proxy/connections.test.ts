/** `connections()` of proxy agents: to targets, through which proxy, and to the proxies themselves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConnectionSnapshot, EnvHttpProxyAgent, Socks5ProxyAgent } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { echo, readEcho } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

const TARGETS = WIRES.filter(({ name }) => name !== 'h2c')
const [H1] = TARGETS as [(typeof TARGETS)[0]]

for (const proxyWire of PROXY_WIRES) {
  for (const wire of TARGETS) {
    test(`a tunnel through ${proxyWire} to ${wire.name}`, async (t) => {
      const origin = await startOrigin(t, wire, echo)
      const proxy = await startProxy(t, proxyWire)
      const agent = proxy.agent({ proxyTunnel: true })
      const target = `${wire.secure ? 'https' : 'http'}://a.example.test:${origin.port}`
      const answer = agent.request({ origin: target, path: '/', method: 'POST', body: 'x'.repeat(100) })
      await eventually(() => agent.connections().some((row) => row.origin === target))
      await readEcho(await answer)
      const rows = agent.connections()
      const [own, ...others] = rows.filter((row) => row.origin === target) as [ConnectionSnapshot]
      assert.deepEqual(others, [])
      assert.equal(own.proxy, proxy.url)
      assert.equal(own.protocol, wire.multiplexes ? 'h2' : 'h1')
      assert.equal(own.tls, wire.secure)
      assert.equal(own.requests, 1)
      assert.equal(own.certificateValidTo === null, !wire.secure)
      // What CONNECT took is not counted.
      if (own.bytesWritten !== null) assert.ok(own.bytesWritten < 600, String(own.bytesWritten))
      // Over HTTP/2 the tunnels share a connection to the proxy; over HTTP/1.1 it has become the tunnel.
      const toProxy = rows.filter((row) => row.origin === proxy.url)
      assert.equal(toProxy.length, proxyWire === 'h2+tls' ? 1 : 0)
      if (toProxy.length > 0) assert.deepEqual([toProxy[0]!.proxy, toProxy[0]!.streams], [proxy.url, 1])
      await agent.close()
      assert.deepEqual(agent.connections(), [])
    })
  }
}

test('a proxy that requests are forwarded to, without its credentials', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const proxy = await startProxy(t, 'h1')
  const httpProxy = proxy.url.replace('//', '//user:secret@')
  const agent = new EnvHttpProxyAgent({ httpProxy, noProxy: 'localhost' })
  t.after(() => agent.destroy())
  await readEcho(
    await agent.request({ origin: `http://a.example.test:${origin.port}`, path: '/', method: 'GET' }),
  )
  await readEcho(await agent.request({ origin: origin.url, path: '/', method: 'GET' }))
  const rows = agent.connections().map(({ origin: to, proxy: through, requests }) => [to, through, requests])
  assert.deepEqual(
    rows.sort(),
    [
      [origin.url, null, 1],
      [proxy.url, proxy.url, 1],
    ].sort(),
  )
  assert.doesNotMatch(JSON.stringify(agent.connections()), /secret/)
})

for (const wire of TARGETS) {
  test(`a tunnel through a SOCKS proxy to ${wire.name}`, async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const proxy = await startSocksServer(t)
    const agent = new Socks5ProxyAgent(proxy.url.replace('//', '//user:secret@'), {
      requestTls: { ca: authority },
    })
    t.after(() => agent.destroy())
    const answer = agent.request({ origin: origin.url, path: '/', method: 'GET' })
    const [opening] = agent.connections() as [ConnectionSnapshot]
    assert.deepEqual([opening.state, opening.proxy], ['connecting', proxy.url])
    await readEcho(await answer)
    const [row, ...others] = agent.connections() as [ConnectionSnapshot]
    assert.deepEqual(others, [])
    assert.deepEqual([row.origin, row.proxy, row.id], [origin.url, proxy.url, opening.id])
    // The handshake with the proxy was before the connection.
    assert.ok(row.bytesWritten! > 0 && row.bytesWritten! < 500)
    assert.doesNotMatch(JSON.stringify(row), /secret/)
  })
}
