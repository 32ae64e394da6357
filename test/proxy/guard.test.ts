/**
 * A guard in front of proxies: what the proxy is told is checked before it is asked. The proxies of these tests reach every
 * name at 127.0.0.1, so that public names can be used.
 */
import assert from 'node:assert/strict'
import type { LookupFunction } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import {
  EnvHttpProxyAgent,
  errors,
  fetch,
  type GuardOptions,
  type ProxyAgentOptions,
  Socks5ProxyAgent,
} from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, type TestOrigin, WIRES } from '../support/wire.ts'
import { startProxy, type TestProxy } from './support/test-proxy.ts'

const [H1, H1_TLS] = WIRES as unknown as [(typeof WIRES)[number], (typeof WIRES)[number]]
const GET = { path: '/', method: 'GET' } as const
const PUBLIC = '93.184.216.34'

/** Names to addresses; everything else is on this machine. */
const resolving =
  (names: Readonly<Record<string, string[]>>): LookupFunction =>
  (hostname, options, callback) => {
    const list = (names[hostname] ?? ['127.0.0.1']).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    if (options.all) callback(null, list)
    else callback(null, list[0]!.address, list[0]!.family)
  }

interface Setting {
  readonly proxy: TestProxy
  readonly origin: TestOrigin
  ask(options: ProxyAgentOptions, host: string, path?: string): Promise<unknown>
  refuse(options: ProxyAgentOptions, host: string, path?: string): Promise<string>
}

async function setting(t: TestContext, isTunnel: boolean): Promise<Setting> {
  const origin = await startOrigin(t, isTunnel ? H1_TLS : H1, echo)
  const proxy = await startProxy(t, 'h1')
  const ask: Setting['ask'] = async (options, host, path = '/') => {
    const agent = proxy.agent({ proxyTunnel: isTunnel, ...options })
    const scheme = isTunnel ? 'https' : 'http'
    return readEcho(await agent.request({ ...GET, origin: `${scheme}://${host}:${origin.port}`, path }))
  }
  return {
    proxy,
    origin,
    ask,
    async refuse(...args) {
      const error = await failure(ask(...args))
      assert.ok(error instanceof errors.BlockedAddressError, `${args[1]}: ${error}`)
      assert.deepEqual([error.phase, error.retrySafety, error.method], ['connecting', 'safe', 'GET'])
      return error.rule
    },
  }
}

const guarded = (guard: GuardOptions | 'public-only', more: object = {}): ProxyAgentOptions => ({
  connect: { guard, ...more },
})

for (const isTunnel of [false, true]) {
  describe(isTunnel ? 'tunnels' : 'forwarded requests', () => {
    test('literals, local names and ports are refused, and the proxy is not asked', async (t) => {
      const { proxy, origin, refuse } = await setting(t, isTunnel)
      for (const [host, rule] of [
        ['127.0.0.1', 'loopback'],
        ['[::1]', 'loopback'],
        ['0x7f.1', 'loopback'],
        ['2130706433', 'loopback'],
        ['[::ffff:10.0.0.1]', 'private'],
        ['169.254.169.254', 'metadata'],
        ['[fd00:ec2::254]', 'metadata'],
        ['localhost', 'local-name'],
        ['localhost.', 'local-name'],
        ['metadata.google.internal', 'local-name'],
        ['intranet', 'local-name'],
      ] as const) {
        assert.equal(await refuse(guarded('public-only'), host), rule, host)
      }
      assert.equal(await refuse(guarded({ deny: ['.evil.example'] }), 'a.evil.example'), 'deny')
      assert.equal(await refuse(guarded({ hosts: ['good.example'] }), 'x.example'), 'hosts')
      assert.equal(await refuse(guarded({ ports: [443] }), 'x.example'), 'ports')
      assert.equal(
        await refuse({ requestTls: { guard: 'public-only', ca: authority } }, '127.0.0.1'),
        'loopback',
      )
      assert.deepEqual([proxy.sockets.length, origin.sockets.length], [0, 0])
    })

    test('a public name goes to the proxy, which is not checked itself', async (t) => {
      const { proxy, ask } = await setting(t, isTunnel)
      await ask({ ...guarded('public-only'), requestTls: { servername: 'localhost' } }, 'public.example')
      assert.equal(proxy.connects.length + proxy.forwards.length, 1)
    })

    test('without resolve, a name may lead anywhere from there; with it, its addresses are checked first', async (t) => {
      const { proxy, ask, refuse } = await setting(t, isTunnel)
      const lookup = resolving({ 'good.example': [PUBLIC], 'mixed.example': ['10.0.0.1', PUBLIC] })
      const requestTls = { servername: 'localhost' }
      await ask({ ...guarded('public-only', { lookup }), requestTls }, '127.0.0.1.nip.example')
      const asked = proxy.connects.length + proxy.forwards.length
      const resolve: GuardOptions = { resolve: true }
      assert.equal(await refuse(guarded(resolve, { lookup }), '127.0.0.1.nip.example'), 'loopback')
      assert.equal(
        await refuse(guarded({ resolve: true, strict: true }, { lookup }), 'mixed.example'),
        'private',
      )
      assert.equal(proxy.connects.length + proxy.forwards.length, asked)
      for (const name of ['good.example', 'mixed.example']) {
        await ask({ ...guarded(resolve, { lookup }), requestTls }, name)
        const { target } = (isTunnel ? proxy.connects : proxy.forwards).at(-1)!
        // A tunnel gets the address that was checked. A forwarded request has the name in its URL.
        assert.ok(target.includes(isTunnel ? PUBLIC : name), target)
      }
    })

    test('a lookup that never answers ends with the connect timeout, an abort or destroy()', async (t) => {
      const { proxy, origin } = await setting(t, isTunnel)
      const connect = { guard: { resolve: true }, lookup: (() => {}) as LookupFunction }
      const url = `${isTunnel ? 'https' : 'http'}://x.example:${origin.port}`
      const clock = FakeClock.install(t)
      const agent = proxy.agent({ connect, connectTimeout: 50, proxyTunnel: isTunnel })
      const late = failure(agent.request({ ...GET, origin: url }))
      await clock.advance(60)
      assert.equal((await late)['code'], 'UND_ERR_CONNECT_TIMEOUT')

      const controller = new AbortController()
      const aborted = failure(agent.request({ ...GET, origin: url, signal: controller.signal }))
      controller.abort()
      assert.equal((await aborted).name, 'AbortError')

      const destroyed = failure(agent.request({ ...GET, origin: url }))
      await agent.destroy()
      assert.equal((await destroyed)['code'], 'UND_ERR_DESTROYED')
      assert.equal(proxy.sockets.length, 0)
    })

    test('a lookup that fails or throws fails the request', async (t) => {
      const { ask } = await setting(t, isTunnel)
      const gone = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
      for (const lookup of [
        (_hostname: string, _options: object, callback: (error: Error) => void) => callback(gone),
        (_hostname: string, _options: object, callback: (error: null, list: []) => void) =>
          callback(null, []),
        () => {
          throw gone
        },
      ]) {
        const error = await failure(ask(guarded({ resolve: true }, { lookup }), 'x.example'))
        assert.equal(error['code'], 'ENOTFOUND')
      }
    })
  })
}

test('an absolute URL as path cannot lead a forwarded request elsewhere', async (t) => {
  const { proxy, refuse } = await setting(t, false)
  for (const [path, rule] of [
    ['http://127.0.0.1/', 'loopback'],
    ['http://localhost/', 'local-name'],
    ['http://x.example:22/', 'bad-port'],
    ['http://x.example\\@127.0.0.1/', 'ambiguous-url'],
    ['http://x.example@127.0.0.1/', 'ambiguous-url'],
    ['http://0x7f.1/', 'ambiguous-url'],
  ] as const) {
    assert.equal(await refuse(guarded('public-only'), 'public.example', path), rule, path)
  }
  assert.equal(proxy.sockets.length, 0)
})

test('fetch and its redirects through a proxy', async (t) => {
  const proxy = await startProxy(t, 'h1', {
    judge: ({ target }) =>
      target.includes('/start') ? { status: 302, headers: { location: 'http://169.254.169.254/' } } : null,
  })
  const dispatcher = proxy.agent(guarded('public-only'))
  const error = await failure(fetch('http://public.example/start', { dispatcher }))
  assert.ok(error.cause instanceof errors.BlockedAddressError)
  assert.equal(error.cause.rule, 'metadata')
  assert.equal(proxy.forwards.length, 1)
})

test('the direct way of an agent has the same guard', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const agent = new EnvHttpProxyAgent({
    httpProxy: 'http://proxy.example:1',
    noProxy: '*',
    connect: { guard: 'public-only', lookup: resolving({}) },
  })
  t.after(() => agent.destroy())
  const error = await failure(agent.request({ ...GET, origin: `http://x.example:${origin.port}` }))
  assert.equal(error['rule'], 'loopback')
  assert.equal(origin.sockets.length, 0)
})

test('a guard for the proxy itself', async (t) => {
  const proxy = await startProxy(t, 'h1')
  const agent = proxy.agent({ proxyTls: { guard: 'public-only' } })
  for (const origin of ['http://public.example', 'https://public.example']) {
    const error = await failure(agent.request({ ...GET, origin }))
    assert.equal(error['code'], 'UND_ERR_BLOCKED_ADDRESS')
    assert.equal((error['proxy'] as { phase: string }).phase, 'proxy-dial')
  }
  assert.equal(proxy.sockets.length, 0)
})

test('through a SOCKS proxy', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const socks = await startSocksServer(t)
  const lookup = resolving({ 'good.example': [PUBLIC] })
  const agentFor = (guard: GuardOptions): Socks5ProxyAgent => {
    const agent = new Socks5ProxyAgent(socks.url, { connect: { guard, lookup } })
    t.after(() => agent.destroy())
    return agent
  }
  const ask = async (guard: GuardOptions, host: string): Promise<unknown> =>
    readEcho(await agentFor(guard).request({ ...GET, origin: `http://${host}:${origin.port}` }))
  for (const host of ['127.0.0.1', 'localhost', '[::1]', 'metadata.google.internal']) {
    assert.equal((await failure(ask({}, host)))['code'], 'UND_ERR_BLOCKED_ADDRESS', host)
  }
  assert.equal((await failure(ask({ resolve: true }, 'evil.example')))['rule'], 'loopback')
  assert.equal(socks.accepted.length, 0)
  await ask({}, 'good.example')
  await ask({ resolve: true }, 'good.example')
  assert.match(socks.requests[0]!, /good\.example/)
  assert.match(socks.requests[1]!, /93\.184\.216\.34/)
})

test('tunnels: a name whose address was checked may look local', async (t) => {
  const { proxy, ask } = await setting(t, true)
  const lookup = resolving({ intranet: [PUBLIC] })
  const requestTls = { servername: 'localhost' }
  await ask({ ...guarded({ resolve: true }, { lookup }), requestTls }, 'intranet')
  assert.match(proxy.connects[0]!.target, new RegExp(`^${PUBLIC.replaceAll('.', '\\.')}:`))
})
