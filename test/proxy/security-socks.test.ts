/** What an attacker would try with a SOCKS proxy, one test each; the numbers are those of the tests for HTTP proxies. */
import assert from 'node:assert/strict'
import dns from 'node:dns'
import net from 'node:net'
import { mock, type TestContext, test } from 'node:test'
import {
  type Dispatcher,
  errors,
  ProxyAgent,
  type ProxyErrorInfo,
  Socks5ProxyAgent,
  type Socks5ProxyAgentOptions,
} from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'

type ConnectFunction = (target: object, callback: (error: unknown) => void) => unknown

const H1 = WIRES[0]!
const H1_TLS = WIRES[1]!
const GET = { path: '/', method: 'GET' } as const

/** Both classes that speak SOCKS. */
function agentsFor(t: TestContext, url: string, options: Socks5ProxyAgentOptions = {}): Dispatcher[] {
  const agents = [new Socks5ProxyAgent(url, options), new ProxyAgent({ ...options, uri: url } as never)]
  for (const agent of agents) t.after(() => agent.destroy())
  return agents
}

test('1: the name and the password for the proxy never reach the target', async (t) => {
  const proxy = await startSocksServer(t, { credentials: { username: 'user', password: 'secret' } })
  const origin = await startOrigin(t, H1, echo)
  const url = proxy.url.replace('//', '//user:secret@')
  for (const agent of agentsFor(t, url, { headers: { 'x-proxy': 'secret' } } as never)) {
    const received = await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.ok(!JSON.stringify(received).includes('secret'))
  }
  assert.deepEqual(proxy.logins, ['user:secret', 'user:secret'])
})

test('3: requestTls.ca and rejectUnauthorized hold through a SOCKS proxy', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1_TLS, echo)
  const request = { ...GET, origin: origin.url }
  for (const [requestTls, isTrusted] of [
    [{ ca: authority }, true],
    [{ ca: '' }, false],
    [{}, false],
    [{ ca: '', rejectUnauthorized: false }, true],
  ] as const) {
    for (const agent of agentsFor(t, proxy.url, { requestTls })) {
      if (isTrusted) await readEcho(await agent.request(request))
      else {
        const { proxy: where } = await failure(agent.request(request))
        assert.equal((where as ProxyErrorInfo).phase, 'target-tls')
      }
    }
  }
})

test('4: two origins through one SOCKS agent reach their own hosts, and many leave nothing behind', async (t) => {
  const one = await startOrigin(t, H1, (_request, response) => response.end('one'))
  const two = await startOrigin(t, H1, (_request, response) => response.end('two'))
  const proxy = await startSocksServer(t, { ports: { 'one.test': one.port, 'two.test': two.port } })
  const refusing = await refusingPort(t)
  for (const agent of agentsFor(t, proxy.url, { pipelining: 0 })) {
    for (const name of ['one', 'two', 'one']) {
      const { body } = await agent.request({ ...GET, origin: `http://${name}.test` })
      assert.equal(await body.text(), name)
    }
    for (let i = 0; i < 200; i++) {
      await failure(agent.request({ ...GET, origin: `http://n${i}.test:${refusing}` }))
    }
    const { stats } = agent as Socks5ProxyAgent
    await eventually(() => Object.keys((agent as Socks5ProxyAgent).stats).join() === 'proxy')
    assert.equal(stats.proxy.pending, 0)
    await eventually(() => proxy.open.size === 0)
  }
})

test('5: each certificate is checked for its own hop', async (t) => {
  const proxy = await startSocksServer(t, { tls: localhost })
  const origin = await startOrigin(t, H1_TLS, echo)
  for (const [proxyTls, requestTls, phase] of [
    [{ ca: authority }, { ca: authority }, null],
    [{ ca: authority }, {}, 'target-tls'],
    [{}, { ca: authority }, 'proxy-tls'],
    [{ rejectUnauthorized: false }, {}, 'target-tls'],
    [{}, { rejectUnauthorized: false }, 'proxy-tls'],
  ] as const) {
    for (const agent of agentsFor(t, proxy.url, { proxyTls, requestTls })) {
      const answer = agent.request({ ...GET, origin: origin.url })
      if (phase === null) await readEcho(await answer)
      else assert.equal(((await failure(answer)).proxy as ProxyErrorInfo).phase, phase)
    }
  }
})

test('6: a host that is none is refused before a byte is written', async (t) => {
  const server = await startScriptedServer(t)
  for (const agent of agentsFor(t, `socks5://127.0.0.1:${server.port}`)) {
    for (const origin of ['http://a\0b', 'http://a b', 'http://a%0db', 'https://a\0b', 'https://a%20b']) {
      const error = await failure(agent.request({ ...GET, origin }))
      assert.ok(error instanceof TypeError || error instanceof errors.InvalidArgumentError, String(error))
    }
  }
  // A dispatcher of the caller may ask for any.
  for (const hostname of ['a\rb', 'a\0b', 'a b', '']) {
    const outcome = new Promise<unknown>((resolve, reject) => {
      const factory = (_origin: URL, { connect }: { connect: ConnectFunction }): Dispatcher => {
        try {
          connect({ hostname, protocol: 'http:', port: '80' }, resolve)
        } catch (error) {
          reject(error)
        }
        throw new Error('mine')
      }
      const url = `socks5://127.0.0.1:${server.port}`
      for (const agent of agentsFor(t, url, { factory } as never)) {
        failure(agent.request({ ...GET, origin: 'http://target.test' }))
      }
    })
    assert.ok((await outcome) instanceof errors.InvalidArgumentError, JSON.stringify(hostname))
  }
  assert.equal(server.count, 0)
})

test('11: no direct connection after a SOCKS proxy failed, and no local look-up of proxied names', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const { lookup } = dns
  const names: string[] = []
  mock.method(dns, 'lookup', (...args: Parameters<typeof lookup>) => {
    names.push(args[0])
    return lookup(...args)
  })
  t.after(() => mock.restoreAll())
  const refusing = net.createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(Buffer.from([5, 0xff])))
  })
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
  t.after(() => refusing.close())
  const { port } = refusing.address() as net.AddressInfo
  for (const each of [await refusingPort(t), port]) {
    for (const agent of agentsFor(t, `socks5://127.0.0.1:${each}`)) {
      await failure(agent.request({ ...GET, origin: origin.url }))
      await failure(agent.request({ ...GET, origin: `http://proxied.test:${origin.port}` }))
    }
  }
  const proxy = await startSocksServer(t)
  for (const agent of agentsFor(t, proxy.url)) {
    await readEcho(await agent.request({ ...GET, origin: `http://proxied.test:${origin.port}` }))
  }
  assert.equal(origin.sockets.length, 2)
  assert.equal(proxy.requests.length, 2)
  assert.ok(!names.includes('proxied.test'), names.join())
})

test('12: a polluted prototype configures nothing, and neither does the environment', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const { prototype } = Object as unknown as { prototype: Record<string, unknown> }
  const pollution: Record<string, unknown> = {
    username: 'evil',
    password: 'evil',
    proxyTls: {},
    connectTimeout: -1,
    factory: () => assert.fail('polluted'),
  }
  const { no_proxy } = process.env
  process.env['no_proxy'] = '*'
  t.after(() => {
    if (no_proxy === undefined) delete process.env['no_proxy']
    else process.env['no_proxy'] = no_proxy
  })
  Object.assign(prototype, pollution)
  try {
    for (const agent of [new Socks5ProxyAgent(proxy.url), new Socks5ProxyAgent(proxy.url, {})]) {
      await readEcho(await agent.request({ ...GET, origin: `http://a.test:${origin.port}` }))
      await agent.destroy()
    }
  } finally {
    for (const name of Object.keys(pollution)) delete prototype[name]
  }
  assert.equal(proxy.requests.length, 2)
  assert.deepEqual(proxy.logins, [])
})
