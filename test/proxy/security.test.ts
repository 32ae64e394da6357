/** What an attacker would try with a proxy, one test each. Rows about SOCKS proxies are with those. */
import assert from 'node:assert/strict'
import net from 'node:net'
import { describe, test } from 'node:test'
import {
  type Dispatcher,
  EnvHttpProxyAgent,
  errors,
  fetch,
  ProxyAgent,
  type ProxyErrorInfo,
  Socks5ProxyAgent,
} from '../../src/index.ts'
import { authority, localhost, other } from '../support/certificates.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { eventually, FakeClock } from '../support/fake-clock.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

type ConnectFunction = (target: object, callback: (error: unknown) => void) => unknown

const H1 = WIRES[0]!
const H1_TLS = WIRES[1]!
const GET = { path: '/', method: 'GET' } as const

test('1: credentials and headers for the proxy reach neither a tunnel nor a direct origin, also after a redirect', async (t) => {
  const direct = await startOrigin(t, H1, echo)
  const redirecting = await startOrigin(t, H1_TLS, (_request, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${direct.port}/landed` }).end()
  })
  const proxy = await startProxy(t, 'h1')
  const agent = new EnvHttpProxyAgent({
    httpProxy: proxy.url.replace('//', '//user:secret@'),
    noProxy: '127.0.0.1',
    headers: { 'x-proxy': 'secret' },
    requestTls: { ca: authority },
  })
  t.after(() => agent.destroy())
  const answer = await fetch(`https://a.example.test:${redirecting.port}/`, { dispatcher: agent })
  const received = (await answer.json()) as { url: string; headers: Record<string, string> }
  assert.equal(received.url, '/landed')
  assert.ok(!JSON.stringify(received).includes('secret'))
  assert.equal(received.headers['proxy-authorization'], undefined)
  assert.ok(proxy.servedAll(redirecting))
  assert.ok(!proxy.servedAll(direct))
})

test('2: proxy-authorization in a request is refused in every form of headers', async () => {
  const agents = [
    new ProxyAgent('http://proxy.test'),
    new EnvHttpProxyAgent({ httpProxy: 'http://proxy.test' }),
  ]
  function* pairs(): Generator<[string, string]> {
    yield ['PROXY-authorization', 'x']
  }
  const forms = (): unknown[] => [
    { 'Proxy-Authorization': 'x' },
    ['a', 'b', 'proxy-Authorization', 'x'],
    new Map([['proxy-authorization', 'x']]),
    new Headers([['proxy-authorization', 'x']]),
    pairs(),
  ]
  for (const agent of agents) {
    for (const origin of ['http://a.test', 'https://a.test']) {
      for (const headers of forms()) {
        const options = { ...GET, origin, headers } as never
        assert.throws(() => agent.dispatch(options, { onResponseError() {} }), errors.InvalidArgumentError)
      }
    }
    await agent.destroy()
  }
})

for (const wire of PROXY_WIRES) {
  test(`3: requestTls.ca and rejectUnauthorized hold through a proxy over ${wire}`, async (t) => {
    const origin = await startOrigin(t, H1_TLS, echo)
    const proxy = await startProxy(t, wire)
    const request = { ...GET, origin: origin.url }
    await readEcho(await proxy.agent().request(request))
    const distrustful = proxy.agent({ requestTls: { ca: '' } })
    assert.equal(((await failure(distrustful.request(request))).proxy as ProxyErrorInfo).phase, 'target-tls')
    const careless = proxy.agent({ requestTls: { ca: '', rejectUnauthorized: false } })
    await readEcho(await careless.request(request))
  })
}

/** To a proxy that refuses everything, without a byte on a wire. */
function refusing(): Dispatcher {
  const dispatcher = {
    dispatch: (_options: unknown, handler: Dispatcher.DispatchHandler) => {
      handler.onResponseError?.(null as never, new Error('refused'))
      return true
    },
    on: () => dispatcher,
    close: (done: () => void) => done(),
    destroy: (_error: unknown, done: () => void) => done(),
  }
  return dispatcher as never
}

test('4: two origins through one agent reach their own hosts, and 10,000 leave nothing behind', async (t) => {
  const one = await startOrigin(t, H1, (_request, response) => response.end('one'))
  const two = await startOrigin(t, H1, (_request, response) => response.end('two'))
  const proxy = await startProxy(t, 'h1')
  for (const proxyTunnel of [true, false]) {
    const agent = proxy.agent({ proxyTunnel })
    for (const [origin, expected] of [
      [one, 'one'],
      [two, 'two'],
      [one, 'one'],
    ] as const) {
      const { body } = await agent.request({ ...GET, origin: `http://same.test:${origin.port}` })
      assert.equal(await body.text(), expected)
    }
  }
  // The map of origins with the most entries.
  let most = 0
  const { set } = Map.prototype
  t.after(() => Object.assign(Map.prototype, { set }))
  Map.prototype.set = function (key, value) {
    set.call(this, key, value)
    if (typeof key === 'string' && key.includes('.many.test')) most = Math.max(most, this.size)
    return this
  }
  const agent = new EnvHttpProxyAgent({
    httpProxy: 'http://proxy.test',
    noProxy: 'x.test',
    clientFactory: refusing,
    proxyTunnel: true,
  })
  t.after(() => agent.destroy())
  let failed = 0
  const handler = { onRequestStart() {}, onResponseError: () => void failed++ }
  for (let i = 1; i <= 10_000; i++) {
    agent.dispatch({ ...GET, origin: `http://n${i}.many.test` }, handler)
    if (i % 50 === 0) await eventually(() => failed === i)
  }
  await eventually(() => Object.keys(agent.stats).join() === 'proxy')
  assert.ok(most > 0 && most <= 1000, String(most))
})

test('5: each certificate is checked for its own hop, and sessions are not mixed', async (t) => {
  const { default: https } = await import('node:https')
  const server = https.createServer(other, echo)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as net.AddressInfo
  const proxy = await startProxy(t, 'h1+tls')
  const agent = proxy.agent()
  // The certificate of the target is for other.test, that of the proxy for localhost.
  await readEcho(await agent.request({ ...GET, origin: `https://other.test:${port}` }))
  const wrongTarget = await failure(agent.request({ ...GET, origin: `https://localhost:${port}` }))
  assert.equal(wrongTarget.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
  const wrongProxy = await startProxy(t, 'h1+tls', { wrongName: true })
  const error = await failure(wrongProxy.agent().request({ ...GET, origin: `https://other.test:${port}` }))
  assert.equal(error.code, 'UND_ERR_PRX_TLS')
  assert.ok(localhost.cert !== other.cert)
  server.closeAllConnections()
  const origin = await startOrigin(t, H1_TLS, echo)
  const trust = { ca: authority }
  for (const [proxyTls, requestTls, phase] of [
    [trust, trust, null],
    [trust, {}, 'target-tls'],
    [trust, undefined, 'target-tls'],
    [{}, trust, 'proxy-tls'],
    [undefined, trust, 'proxy-tls'],
    [{ rejectUnauthorized: false }, {}, 'target-tls'],
    [{}, { rejectUnauthorized: false }, 'proxy-tls'],
  ] as const) {
    const each = new ProxyAgent({ uri: proxy.url, proxyTls, requestTls })
    t.after(() => each.destroy())
    const answer = each.request({ ...GET, origin: origin.url })
    if (phase === null) await readEcho(await answer)
    else assert.equal(((await failure(answer)).proxy as ProxyErrorInfo).phase, phase)
  }
})

describe('6: control characters are refused before a byte is written', () => {
  for (const bad of ['a\rb', 'a\nb', 'a\0b', 'a\r\nx: y']) {
    test(`in token and headers: ${JSON.stringify(bad)}`, () => {
      const uri = 'http://proxy.test'
      assert.throws(() => new ProxyAgent({ uri, token: bad }), errors.InvalidArgumentError)
      assert.throws(() => new ProxyAgent({ uri, auth: bad }), errors.InvalidArgumentError)
      assert.throws(() => new ProxyAgent({ uri, headers: { 'x-name': bad } }), errors.InvalidArgumentError)
      assert.throws(() => new ProxyAgent({ uri, headers: { [bad]: 'x' } }), errors.InvalidArgumentError)
    })
  }

  test('in the host', async (t) => {
    const server = await startScriptedServer(t)
    const agent = new ProxyAgent(server.url)
    t.after(() => agent.destroy())
    for (const origin of ['http://a\0b', 'http://a b', 'http://a%0db', 'https://a\0b', 'https://a%20b']) {
      const error = await failure(agent.request({ ...GET, origin }))
      assert.ok(error instanceof TypeError || error instanceof errors.InvalidArgumentError, String(error))
    }
    assert.equal(server.count, 0)
  })

  test('in a host that a dispatcher of the caller asks for', async (t) => {
    const server = await startScriptedServer(t)
    for (const hostname of ['a\rb', 'a\nb', 'a\0b', 'a b']) {
      const outcome = new Promise<unknown>((resolve) => {
        const agent = new ProxyAgent({
          uri: server.url,
          proxyTunnel: true,
          factory: (_origin, { connect }) => {
            ;(connect as ConnectFunction)({ hostname, protocol: 'http:', port: '80' }, resolve)
            return refusing()
          },
        })
        t.after(() => agent.destroy())
        failure(agent.request({ ...GET, origin: 'http://target.test' }))
      })
      assert.ok((await outcome) instanceof errors.InvalidArgumentError, JSON.stringify(hostname))
    }
    assert.equal(server.count, 0)
  })
})

test('7: a 407 or a redirect from inside a tunnel is the target’s', async (t) => {
  let status = 407
  const received: string[] = []
  const origin = await startOrigin(t, H1_TLS, (request, response) => {
    received.push(JSON.stringify(request.headers))
    response
      .writeHead(status, { 'proxy-authenticate': 'Basic', location: 'http://elsewhere.test' })
      .end('mine')
  })
  const proxy = await startProxy(t, 'h1')
  let asked = 0
  const token = (): string => `secret ${++asked}`
  const agent = proxy.agent({ token, onProxyResponse: () => assert.fail('not of the proxy') })
  for (status of [407, 302]) {
    const answer = await agent.request({ ...GET, origin: origin.url })
    assert.deepEqual([answer.statusCode, await answer.body.text()], [status, 'mine'])
  }
  assert.equal(asked, 1)
  assert.equal(received.length, 2)
  assert.ok(!received.join().includes('secret'))
})

test('8: the body of a refusal is never taken for a response', async (t) => {
  const server = await startScriptedServer(t)
  const agent = new ProxyAgent({
    uri: server.url,
    proxyTunnel: true,
    onProxyResponse: () => ({ 'x-a': '1' }),
  })
  t.after(() => agent.destroy())
  const evil = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'
  const error = failure(agent.request({ ...GET, origin: 'http://target.test' }))
  const first = await server.accept()
  await first.head()
  first.send(`HTTP/1.1 403 No\r\ncontent-length: ${evil.length}\r\n\r\n${evil}`)
  // More bytes than announced: the connection is not asked again.
  await first.head()
  first.send(`HTTP/1.1 407 No\r\ncontent-length: 2\r\n\r\nno${evil}`)
  const second = await server.accept()
  assert.match(await second.head(), /^CONNECT /)
  second.end(`HTTP/1.1 502 No\r\nconnection: close\r\n\r\n${evil}`)
  const third = await server.accept()
  await third.head()
  third.end()
  assert.equal((await error).message, 'Proxy Connection failed')
})

describe('9: the answer to CONNECT is bounded', () => {
  test('an endless head', async (t) => {
    const server = await startScriptedServer(t)
    const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true })
    t.after(() => agent.destroy())
    const error = failure(agent.request({ ...GET, origin: 'http://target.test' }))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 200 OK\r\n')
    peer.send(`x: ${'y'.repeat(1000)}\r\n`.repeat(20))
    assert.equal((await error).code, 'UND_ERR_HEADERS_OVERFLOW')
    await peer.closed()
  })

  test('endless interim responses', async (t) => {
    const server = await startScriptedServer(t)
    const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true })
    t.after(() => agent.destroy())
    const error = failure(agent.request({ ...GET, origin: 'http://target.test' }))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50))
    const { name, cause } = await error
    assert.equal(name, 'ProxyConnectionError')
    assert.equal((cause as Error).message, 'bad response')
    await peer.closed()
  })

  test('a slow drip', async (t) => {
    const server = await startScriptedServer(t)
    const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true, connectTimeout: 1000 })
    t.after(() => agent.destroy())
    const clock = FakeClock.install(t)
    const error = failure(agent.request({ ...GET, origin: 'http://target.test' }))
    const peer = await server.accept()
    await peer.head()
    for (let i = 0; i < 10; i++) {
      peer.send(i === 0 ? 'HTTP/1.1 200 OK\r\nx: ' : 'y')
      await clock.advance(100)
    }
    assert.equal((await error).code, 'UND_ERR_CONNECT_TIMEOUT')
    await peer.closed()
  })
})

test('10: a zone id does not make an address match a name of NO_PROXY', async (t) => {
  const agent = new EnvHttpProxyAgent({ httpProxy: 'http://proxy.test', noProxy: '*.x.test' })
  t.after(() => agent.destroy())
  assert.throws(() => agent.explain('http://[::1%25.x.test]/'), { code: 'ERR_INVALID_URL' })
  assert.equal(agent.explain('http://[::1]/').proxy, 'http://proxy.test')
})

describe('11: no direct connection after a proxy failed, and no local look-up of proxied names', () => {
  for (const proxyTunnel of [true, false]) {
    test(proxyTunnel ? 'tunnelled' : 'forwarded', async (t) => {
      const dns = await import('node:dns')
      const { mock } = await import('node:test')
      const origin = await startOrigin(t, H1, echo)
      const dead = await refusingPort(t)
      const names: string[] = []
      const lookup = dns.default.lookup
      mock.method(dns.default, 'lookup', (...args: Parameters<typeof lookup>) => {
        names.push(args[0])
        return lookup(...args)
      })
      t.after(() => mock.restoreAll())
      const refusing = await startProxy(t, 'h1', { judge: () => ({ status: 407 }) })
      for (const uri of [`http://127.0.0.1:${dead}`, refusing.url]) {
        const agent = new ProxyAgent({ uri, proxyTunnel })
        t.after(() => agent.destroy())
        await failure(agent.request({ ...GET, origin: origin.url }))
        await failure(agent.request({ ...GET, origin: `http://proxied.test:${origin.port}` }))
        const environment = new EnvHttpProxyAgent({ httpProxy: uri, noProxy: '', proxyTunnel })
        t.after(() => environment.destroy())
        await failure(environment.request({ ...GET, origin: origin.url }))
      }
      assert.equal(origin.sockets.length, 0)
      assert.ok(!names.includes('proxied.test'), names.join())
    })
  }
})

test('12: a polluted prototype configures nothing, and the environment has no effect on ProxyAgent', async (t) => {
  const origin = await startOrigin(t, H1, echo)
  const proxy = await startProxy(t, 'h1')
  const { prototype } = Object as unknown as { prototype: Record<string, unknown> }
  const pollution: Record<string, unknown> = {
    uri: 'http://evil.test',
    token: 'evil',
    proxyTunnel: true,
    headers: new Map([['x-evil', '1']]),
    upgrade: 'websocket',
    httpProxy: 'http://evil.test',
    noProxy: '*',
    proxy: () => 'http://evil.test',
    clientFactory: () => assert.fail('polluted'),
    onProxyResponse: () => assert.fail('polluted'),
  }
  const { no_proxy } = process.env
  process.env['no_proxy'] = '*'
  t.after(() => {
    if (no_proxy === undefined) delete process.env['no_proxy']
    else process.env['no_proxy'] = no_proxy
  })
  Object.assign(prototype, pollution)
  try {
    assert.throws(() => new ProxyAgent({}), { message: 'Proxy uri is mandatory' })
    const agent = new ProxyAgent({ uri: proxy.url })
    const environment = new EnvHttpProxyAgent({ httpProxy: proxy.url, noProxy: '' })
    for (const each of [agent, environment]) {
      const request = { ...GET, origin: `http://a.test:${origin.port}` }
      await readEcho(await each.request(request))
      // The methods read options before the agent does.
      await new Promise<void>((resolve, reject) => {
        const onResponseError = (_controller: unknown, error: Error): void => reject(error)
        each.dispatch(request, { onRequestStart() {}, onResponseEnd: () => resolve(), onResponseError })
      })
      await each.destroy()
    }
  } finally {
    for (const name of Object.keys(pollution)) delete prototype[name]
  }
  assert.equal(proxy.forwards.length, 4)
  assert.equal(proxy.connects.length, 0)
  // What constructors read, for every form of their argument.
  const read: Record<string, unknown> = {
    ...pollution,
    connectTimeout: -1,
    localAddress: '203.0.113.1',
    maxCachedSessions: -1,
    servername: 'evil.test',
    timeout: -1,
    username: 'evil',
    password: 'evil',
  }
  const secure = await startProxy(t, 'h1+tls')
  const socks = await startSocksServer(t, { credentials: { username: 'own', password: 'own' } })
  const socksUrl = socks.url.replace('//', '//own:own@')
  Object.assign(prototype, read)
  let agents: Dispatcher[] = []
  try {
    agents = [
      new ProxyAgent(proxy.url),
      new ProxyAgent(new URL(proxy.url)),
      new ProxyAgent({ uri: secure.url, proxyTls: { ca: authority } }),
      new EnvHttpProxyAgent({ httpProxy: proxy.url, noProxy: '' }),
      new ProxyAgent(socksUrl),
      new Socks5ProxyAgent(socksUrl),
      new Socks5ProxyAgent(socksUrl, { requestTls: {} }),
    ]
  } finally {
    for (const name of Object.keys(read)) delete prototype[name]
  }
  for (const each of agents) {
    await readEcho(await each.request({ ...GET, origin: `http://a.test:${origin.port}` }))
    await each.destroy()
  }
  assert.equal(proxy.forwards.length, 7)
  assert.deepEqual([secure.forwards.length, socks.requests.length], [1, 3])
  assert.deepEqual(socks.logins, ['own:own', 'own:own', 'own:own'])
  // What is read later, for the proxy of a function.
  const late: Record<string, unknown> = { maxHeaderSize: 1, servername: 'evil.test' }
  const names: unknown[] = []
  const chosen = new ProxyAgent({
    proxy: () => proxy.url,
    proxyTunnel: true,
    connect: ({ servername }, callback) => {
      names.push(servername)
      const socket = net.connect(proxy.port, '127.0.0.1', () => callback(null, socket))
    },
  })
  Object.assign(prototype, late)
  try {
    await readEcho(await chosen.request({ ...GET, origin: `http://a.test:${origin.port}` }))
  } finally {
    for (const name of Object.keys(late)) delete prototype[name]
  }
  await chosen.destroy()
  assert.deepEqual([names, proxy.connects.length], [['localhost'], 1])
  for (const { headers } of proxy.forwards) {
    assert.equal(headers['proxy-authorization'], undefined)
    assert.equal(headers['x-evil'], undefined)
  }
})
