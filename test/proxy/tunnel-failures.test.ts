/** A tunnel that does not come about: which error, with what about the proxy, and how soon. */
import assert from 'node:assert/strict'
import type net from 'node:net'
import { describe, test } from 'node:test'
import tls from 'node:tls'
import { errors, ProxyAgent, type ProxyAgentOptions, type ProxyErrorInfo } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { echo, failure } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

type TestContext = import('node:test').TestContext
type Failure = Error & Record<string, unknown> & { proxy: ProxyErrorInfo }

const GET = { origin: 'https://target.test', path: '/', method: 'GET' } as const

interface Pair {
  readonly server: ScriptedServer
  readonly agent: ProxyAgent
}

async function start(t: TestContext, options: ProxyAgentOptions = {}): Promise<Pair> {
  const server = await startScriptedServer(t)
  const agent = new ProxyAgent({ uri: server.url.replace('//', '//user:secret@'), ...options })
  t.after(() => agent.destroy())
  return { server, agent }
}

/** What all these errors have. */
function assertShape(error: Failure, uri: string, phase: string): void {
  assert.equal(error.proxy?.uri, uri, String(error))
  assert.equal(error.proxy.phase, phase)
  assert.equal(error.phase, 'connecting')
  assert.equal(error.retrySafety, 'safe')
  assert.equal(error.origin, 'https://target.test')
  assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes('secret'))
}

async function waitForTimer(clock: FakeClock, delay: number): Promise<void> {
  while (![...clock.active].some((timer) => timer.delay === delay)) await new Promise(setImmediate)
}

for (const wire of PROXY_WIRES) {
  describe(`a refused CONNECT over ${wire}`, () => {
    for (const status of [302, 403, 407, 502]) {
      test(`with ${status}`, async (t) => {
        const proxy = await startProxy(t, wire, {
          judge: () => ({
            status,
            headers: { 'proxy-authenticate': 'Basic', 'proxy-status': 'p; error=http_request_denied' },
            body: 'the page',
          }),
        })
        const agent = proxy.agent({ uri: proxy.url.replace('//', '//user:secret@') })
        const error = (await failure(agent.request(GET))) as Failure
        assert.ok(error instanceof errors.ProxyConnectionError)
        assert.ok(!(error instanceof errors.AbortError))
        assert.deepEqual([error.name, error['code']], ['ProxyConnectionError', 'UND_ERR_PRX_CONN'])
        assert.equal(error.message, `Proxy response (${status}) !== 200 when HTTP Tunneling`)
        assert.equal(
          error.stack!.split('\n', 1)[0],
          `ProxyConnectionError: ${error.message} (GET https://target.test/ while connecting, at proxy-connect of the proxy ${proxy.url})`,
        )
        assertShape(error, proxy.url, 'proxy-connect')
        assert.equal(error.proxy.statusCode, status)
        assert.equal(error.proxy.headers!['proxy-authenticate'], 'Basic')
        assert.equal(error.proxy.headers!['proxy-status'], 'p; error=http_request_denied')
        assert.equal(error.proxy.body, 'the page')
        assert.equal(error.proxy.reply, null)
        assert.equal(proxy.connects.length, 1)
      })
    }

    test('fails all requests that wait for it, and is not asked for again', async (t) => {
      const proxy = await startProxy(t, wire, { judge: () => ({ status: 503, body: 'x' }) })
      const agent = proxy.agent({ connections: 1 })
      const all = await Promise.all([1, 2, 3].map(() => failure(agent.request(GET))))
      assert.deepEqual(
        all.map(({ code }) => code),
        ['UND_ERR_PRX_CONN', 'UND_ERR_PRX_CONN', 'UND_ERR_PRX_CONN'],
      )
      assert.equal(new Set(all).size, 3)
      assert.equal(proxy.connects.length, 1)
    })
  })
}

describe('the body of a refusal', () => {
  for (const [what, answer, body] of [
    ['with a length', 'content-length: 5\r\n\r\nwhole', 'whole'],
    ['with chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n', 'abcde'],
    ['without any', 'content-length: 0\r\n\r\n', ''],
    ['until the proxy closes', '\r\nrest', 'rest'],
    ['over 4 KiB', `content-length: 9000\r\n\r\n${'x'.repeat(9000)}`, 'x'.repeat(4096)],
    ['without end', `\r\n${'x'.repeat(70_000)}`, 'x'.repeat(4096)],
    ['with broken chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz', 'abc'],
  ] as const) {
    test(`${what}`, async (t) => {
      const { server, agent } = await start(t)
      const error = failure(agent.request(GET))
      const peer = await server.accept()
      await peer.head()
      peer.end(`HTTP/1.1 403 Forbidden\r\n${answer}`)
      assert.equal(((await error) as Failure).proxy.body, body)
      await peer.closed()
    })
  }

  test('is not read without end', async (t) => {
    const { server, agent } = await start(t)
    // Its time never ends.
    FakeClock.install(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 403 Forbidden\r\n\r\n', 'x'.repeat(70_000))
    await eventually(() => peer.socket.closed || peer.socket.readableEnded)
    assert.equal(((await error) as Failure).proxy.body, 'x'.repeat(4096))
  })

  test('is waited for one second', async (t) => {
    const { server, agent } = await start(t)
    const clock = FakeClock.install(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 403 Forbidden\r\ncontent-length: 10\r\n\r\npart')
    await waitForTimer(clock, 1000)
    await new Promise(setImmediate)
    await clock.advance(1000)
    assert.equal(((await error) as Failure).proxy.statusCode, 403)
    await peer.closed()
  })
})

describe('a proxy that cannot be reached', () => {
  test('refuses the connection', async (t) => {
    const port = await refusingPort(t)
    const agent = new ProxyAgent(`http://user:secret@127.0.0.1:${port}`)
    t.after(() => agent.destroy())
    const error = (await failure(agent.request(GET))) as Failure
    assert.equal(error['code'], 'ECONNREFUSED')
    assertShape(error, `http://127.0.0.1:${port}`, 'proxy-dial')
  })

  test('has another name in its certificate', async (t) => {
    const proxy = await startProxy(t, 'h1+tls', { wrongName: true })
    const error = (await failure(proxy.agent().request(GET))) as Failure
    assert.ok(error instanceof errors.SecureProxyConnectionError)
    assert.deepEqual([error.code, error.message], ['UND_ERR_PRX_TLS', 'Secure Proxy Connection failed'])
    assert.equal((error.cause as { code: string }).code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    assertShape(error, proxy.url, 'proxy-tls')
  })

  test('has a certificate of an unknown authority', async (t) => {
    const proxy = await startProxy(t, 'h2+tls')
    const error = (await failure(proxy.agent({ proxyTls: { ca: '' } }).request(GET))) as Failure
    assert.ok(error instanceof errors.SecureProxyConnectionError)
    assert.ok(error.cause instanceof Error)
    assertShape(error, proxy.url, 'proxy-tls')
  })

  test('does not speak TLS', async (t) => {
    const proxy = await startProxy(t, 'h1')
    const agent = proxy.agent({ uri: proxy.url.replace('http:', 'https:') })
    const error = (await failure(agent.request(GET))) as Failure
    assert.ok(error instanceof errors.SecureProxyConnectionError)
    assertShape(error, proxy.url.replace('http:', 'https:'), 'proxy-tls')
  })

  test('does not get on with TLS', async (t) => {
    const server = await startScriptedServer(t)
    const uri = server.url.replace('http:', 'https:')
    const agent = new ProxyAgent({ uri, connectTimeout: 1234 })
    t.after(() => agent.destroy())
    const clock = FakeClock.install(t)
    const error = failure(agent.request(GET))
    await server.accept()
    await waitForTimer(clock, 1234)
    await clock.advance(1234)
    const late = (await error) as Failure
    assert.ok(late instanceof errors.ConnectTimeoutError)
    assert.match(
      late.message,
      new RegExp(`attempted address: 127\\.0\\.0\\.1:${server.port}, timeout: 1234ms`),
    )
    assertShape(late, uri, late.proxy.phase)
  })

  test('does not get on with TLS within proxyTls.timeout', async (t) => {
    const server = await startScriptedServer(t)
    const uri = server.url.replace('http:', 'https:')
    const agent = new ProxyAgent({ uri, connectTimeout: 1234, proxyTls: { timeout: 567 } })
    t.after(() => agent.destroy())
    const clock = FakeClock.install(t)
    const error = failure(agent.request(GET))
    await (await server.accept()).until('\x16\x03')
    await clock.advance(567)
    const late = (await error) as Failure
    assert.ok(late instanceof errors.ConnectTimeoutError, String(late))
    assertShape(late, uri, 'proxy-tls')
  })
})

describe('a proxy that does not answer CONNECT', () => {
  test('closes', async (t) => {
    const { server, agent } = await start(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    peer.end()
    const { name, message, code, cause, ...rest } = (await error) as Failure
    assert.deepEqual([name, code], ['ProxyConnectionError', 'UND_ERR_PRX_CONN'])
    assert.equal(message, 'Proxy Connection failed')
    assert.ok(cause instanceof errors.SocketError)
    assert.equal(cause.message, 'other side closed')
    assert.equal(rest.proxy.phase, 'proxy-connect')
    assert.equal(server.count, 1)
  })

  test('resets', async (t) => {
    const { server, agent } = await start(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    peer.socket.resetAndDestroy()
    const { name, cause, proxy } = (await error) as Failure
    assert.equal(name, 'ProxyConnectionError')
    assert.equal((cause as { code: string }).code, 'ECONNRESET')
    assert.equal(proxy.phase, 'proxy-connect')
  })

  test('answers something else', async (t) => {
    const { server, agent } = await start(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    peer.send('SSH-2.0-OpenSSH\r\n')
    const { name, proxy } = (await error) as Failure
    assert.equal(name, 'HTTPParserError')
    assert.equal(proxy.phase, 'proxy-connect')
  })

  test('answers with a head that is too large', async (t) => {
    const { server, agent } = await start(t, { maxHeaderSize: 1000 })
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    peer.send(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(2000)}\r\n\r\n`)
    const { code, proxy } = (await error) as Failure
    assert.equal(code, 'UND_ERR_HEADERS_OVERFLOW')
    assert.equal(proxy.phase, 'proxy-connect')
  })

  test('is silent: connectTimeout covers it', async (t) => {
    const { server, agent } = await start(t, { connectTimeout: 500 })
    const clock = FakeClock.install(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    await clock.advance(499)
    await clock.advance(1)
    const late = (await error) as Failure
    assert.ok(late instanceof errors.ConnectTimeoutError)
    assert.equal(
      late.message,
      `Connect Timeout Error (attempted address: 127.0.0.1:${server.port}, timeout: 500ms)`,
    )
    assertShape(late, server.url, 'proxy-connect')
    await peer.closed()
  })

  test('is silent: 10 seconds by default', async (t) => {
    const { server, agent } = await start(t)
    const clock = FakeClock.install(t)
    let isOver = false
    const error = failure(agent.request(GET)).finally(() => {
      isOver = true
    })
    const peer = await server.accept()
    await peer.head()
    await clock.advance(9_999)
    await turns(5)
    assert.equal(isOver, false)
    await clock.advance(1)
    assert.match((await error).message, /timeout: 10000ms/)
  })

  test('is silent with connectTimeout 0: the request can still be aborted', async (t) => {
    const { server, agent } = await start(t, { connectTimeout: 0 })
    const signal = new AbortController()
    const error = failure(agent.request({ ...GET, signal: signal.signal }))
    const peer = await server.accept()
    await peer.head()
    signal.abort()
    assert.equal((await error).name, 'AbortError')
    await peer.closed()
  })
})

describe('an abort', () => {
  test('while CONNECT is under way settles at once, and CONNECT is cancelled', async (t) => {
    const { server, agent } = await start(t)
    const controller = new AbortController()
    const error = failure(agent.request({ ...GET, signal: controller.signal }))
    const peer = await server.accept()
    await peer.head()
    const reason = new Error('enough')
    controller.abort(reason)
    assert.equal(await error, reason)
    await peer.closed()
    // The agent goes on.
    const second = failure(agent.request(GET))
    const next = await server.accept()
    await next.head()
    next.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n')
    assert.equal((await second).code, 'UND_ERR_PRX_CONN')
  })

  test('of one of two requests leaves the CONNECT for the other', async (t) => {
    const { server, agent } = await start(t, { connections: 1, proxyTunnel: true })
    const controller = new AbortController()
    const get = { ...GET, origin: 'http://target.test' } as const
    const first = failure(agent.request({ ...get, signal: controller.signal }))
    const second = agent.request(get)
    const peer = await server.accept()
    await peer.head()
    controller.abort()
    await first
    peer.send('HTTP/1.1 200 OK\r\n\r\n')
    await peer.head()
    peer.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    assert.equal(await (await second).body.text(), 'ok')
    assert.equal(server.count, 1)
  })

  test('while the body of a refusal is read', async (t) => {
    const { server, agent } = await start(t)
    const controller = new AbortController()
    const error = failure(agent.request({ ...GET, signal: controller.signal }))
    const peer = await server.accept()
    await peer.head()
    // The time for the body never ends.
    const clock = FakeClock.install(t)
    peer.send('HTTP/1.1 403 No\r\ncontent-length: 10\r\n\r\npart')
    await waitForTimer(clock, 1000)
    controller.abort()
    assert.equal((await error).name, 'AbortError')
    await peer.closed()
  })
})

describe('TLS to the target', () => {
  for (const wire of PROXY_WIRES) {
    test(`through ${wire}: the runtime's error, about the target`, async (t) => {
      const origin = await startOrigin(t, WIRES[1]!, echo)
      const proxy = await startProxy(t, wire)
      const agent = proxy.agent({ requestTls: { ca: '' } })
      const error = (await failure(agent.request({ ...GET, origin: origin.url }))) as Failure
      assert.ok(!(error instanceof errors.UndiciError), error.name)
      assert.equal(error.proxy.phase, 'target-tls')
      assert.equal(error.proxy.uri, proxy.url)
      assert.equal(error.phase, 'connecting')
      assert.equal(error.retrySafety, 'safe')
    })
  }

  for (const wire of PROXY_WIRES) {
    test(`through ${wire}: an option that TLS cannot use leaves no tunnel`, async (t) => {
      const origin = await startOrigin(t, WIRES[1]!, echo)
      const proxy = await startProxy(t, wire)
      const agent = proxy.agent({ requestTls: { cert: 'not a certificate' } })
      const error = (await failure(agent.request({ ...GET, origin: origin.url }))) as Failure
      assert.equal(error.proxy.phase, 'target-tls')
      assert.equal(proxy.connects.length, 1)
      await eventually(() => proxy.tunnels.size === 0)
    })
  }

  test('another name in the certificate', async (t) => {
    const origin = await startOrigin(t, WIRES[1]!, echo)
    const proxy = await startProxy(t, 'h1')
    const target = `https://wrong.test:${origin.port}`
    const error = (await failure(proxy.agent().request({ ...GET, origin: target }))) as Failure
    assert.equal(error['code'], 'ERR_TLS_CERT_ALTNAME_INVALID')
    assert.equal(error.proxy.phase, 'target-tls')
  })

  test('too slow: the address of the target', async (t) => {
    const { server, agent } = await start(t, { requestTls: { timeout: 300 } })
    const clock = FakeClock.install(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 200 OK\r\n\r\n')
    await waitForTimer(clock, 300)
    await clock.advance(300)
    const late = (await error) as Failure
    assert.equal(late.message, 'Connect Timeout Error (attempted address: target.test:443, timeout: 300ms)')
    assertShape(late, server.url, 'target-tls')
    await peer.closed()
  })
})

describe('the server names', () => {
  async function sniServer(t: TestContext, names: (string | false | undefined)[]): Promise<number> {
    const { localhost } = await import('../support/certificates.ts')
    const server = tls.createServer({ ...localhost, ALPNProtocols: ['http/1.1'] }, (socket) => {
      names.push((socket as tls.TLSSocket & { servername: string | false }).servername)
      socket.on('error', () => {})
      let input = ''
      socket.on('data', (bytes) => {
        input += bytes.toString('latin1')
        if (!input.endsWith('\r\n\r\n')) return
        if (input.startsWith('CONNECT')) socket.end('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n')
        else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    return (server.address() as net.AddressInfo).port
  }

  for (const [what, host, proxyTls, expected] of [
    ["is the proxy's name", 'localhost', {}, 'localhost'],
    ['is not sent for an address', '127.0.0.1', {}, false],
    ['is that of proxyTls', '127.0.0.1', { servername: 'b.example.test' }, 'b.example.test'],
  ] as const) {
    test(`of the proxy ${what}`, async (t) => {
      const names: (string | false | undefined)[] = []
      const port = await sniServer(t, names)
      const agent = new ProxyAgent({
        uri: `https://${host}:${port}`,
        proxyTls: { ca: authority, ...proxyTls },
      })
      t.after(() => agent.destroy())
      assert.equal((await failure(agent.request(GET))).code, 'UND_ERR_PRX_CONN')
      const { body } = await agent.request({ ...GET, origin: 'http://plain.test' })
      await body.text()
      assert.deepEqual(names, [expected, expected])
    })
  }

  for (const [what, requestTls, headers, expected] of [
    ["the request's", undefined, { host: 'b.example.test' }, 'b.example.test'],
    ["the URL's with requestTls", { ca: authority }, { host: 'b.example.test' }, 'a.example.test'],
    ['that of requestTls', { ca: authority, servername: 'c.example.test' }, {}, 'c.example.test'],
  ] as const) {
    test(`of the target: ${what}`, async (t) => {
      const names: (string | false | undefined)[] = []
      const port = await sniServer(t, names)
      const proxy = await startProxy(t, 'h1')
      const agent = new ProxyAgent({
        uri: proxy.url,
        connect: { ca: authority },
        ...(requestTls === undefined ? null : { requestTls }),
      })
      t.after(() => agent.destroy())
      const { body } = await agent.request({ ...GET, origin: `https://a.example.test:${port}`, headers })
      await body.text()
      assert.deepEqual(names, [expected])
    })
  }
})
