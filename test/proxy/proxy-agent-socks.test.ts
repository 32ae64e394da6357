/** ProxyAgent and EnvHttpProxyAgent with the URL of a SOCKS proxy: every request goes through a tunnel of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EnvHttpProxyAgent, errors, ProxyAgent, type ProxyErrorInfo } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { startProxy } from './support/test-proxy.ts'

const GET = { path: '/', method: 'GET' } as const
const H1 = WIRES[0]!

describe('ProxyAgent with a SOCKS proxy', () => {
  for (const scheme of ['socks5', 'socks5h', 'socks']) {
    for (const wire of WIRES.filter(({ name }) => name !== 'h2c')) {
      test(`${scheme}: to a target over ${wire.name}`, async (t) => {
        const origin = await startOrigin(t, wire, echo)
        const proxy = await startSocksServer(t)
        const agent = new ProxyAgent({
          uri: proxy.url.replace('socks5', scheme),
          requestTls: { ca: authority },
          headers: { 'x-proxy': '1' },
        })
        t.after(() => agent.destroy())
        const target = `${wire.secure ? 'https' : 'http'}://a.example.test:${origin.port}`
        const { url, headers } = await readEcho(await agent.request({ ...GET, origin: target }))
        assert.equal(url, '/')
        assert.equal(headers['x-proxy'], undefined)
        assert.equal(proxy.requests.length, 1)
        assert.match(proxy.requests[0]!, /a\.example\.test/)
        assert.equal(agent.stats.proxy.connected, 1)
        assert.equal(agent.stats[target]!.running, 0)
      })
    }
  }

  test('decodes the user info once', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startSocksServer(t, { credentials: { username: 'us@er', password: 'p:ss' } })
    const agent = new ProxyAgent(proxy.url.replace('//', '//us%40er:p%3Ass@'))
    t.after(() => agent.destroy())
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.deepEqual(proxy.logins, ['us@er:p:ss'])
  })

  test('proxyTls speaks TLS to it', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startSocksServer(t, { tls: localhost })
    const agent = new ProxyAgent({
      uri: proxy.url.replace('127.0.0.1', 'localhost'),
      proxyTls: { ca: authority },
    })
    t.after(() => agent.destroy())
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
  })

  test('an error has the proxy, without its password', async (t) => {
    const port = await refusingPort(t)
    const agent = new ProxyAgent(`socks5://user:secret@127.0.0.1:${port}`)
    t.after(() => agent.destroy())
    const error = await failure(agent.request({ ...GET, origin: 'http://a.test' }))
    assert.equal(error.code, 'ECONNREFUSED')
    assert.equal((error.proxy as ProxyErrorInfo).uri, `socks5://127.0.0.1:${port}`)
    assert.ok(!JSON.stringify(error).includes('secret'))
  })

  test('a list may have both kinds', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const dead = await refusingPort(t)
    const http = await startProxy(t, 'h1')
    const socks = await startSocksServer(t)
    for (const last of [http.url, socks.url]) {
      const agent = new ProxyAgent({ proxy: () => [`socks5://127.0.0.1:${dead}`, last] })
      t.after(() => agent.destroy())
      await readEcho(await agent.request({ ...GET, origin: origin.url }))
    }
    assert.deepEqual([http.connects.length, http.forwards.length], [1, 0])
    assert.equal(socks.requests.length, 1)
  })

  test('close() and destroy() end its tunnels', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startSocksServer(t)
    for (const end of ['close', 'destroy'] as const) {
      const agent = new ProxyAgent(proxy.url)
      await readEcho(await agent.request({ ...GET, origin: origin.url }))
      await agent[end]()
      assert.ok(
        (await failure(agent.request({ ...GET, origin: origin.url }))) instanceof errors.ClientDestroyedError,
      )
    }
    while (proxy.open.size > 0) await new Promise(setImmediate)
  })
})

test('EnvHttpProxyAgent with ALL_PROXY of SOCKS', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const proxy = await startSocksServer(t)
  const agent = new EnvHttpProxyAgent({ httpProxy: proxy.url.replace('//', '//u:secret@'), noProxy: '' })
  t.after(() => agent.destroy())
  await readEcho(await agent.request({ ...GET, origin: origin.url }))
  assert.equal(proxy.requests.length, 1)
  assert.deepEqual(agent.explain('https://a.test'), { proxy: proxy.url, rule: 'httpProxy' })
})

test('a path, a query or a fragment after a SOCKS proxy is refused', () => {
  for (const uri of ['socks5://x/path', 'socks5://x?q', 'socks5://x/#h']) {
    assert.throws(() => new ProxyAgent(uri), { name: 'InvalidArgumentError', message: 'invalid url' })
  }
  assert.ok(new ProxyAgent('socks5://x/'))
})
