/** Requests that the proxy forwards: the lines it gets, the connections it is asked on, and its 407. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { ProxyAgent, type ProxyAgentOptions, type ProxyErrorInfo } from '../../src/index.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { OK } from '../support/scripted-client.ts'
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { startProxy } from './support/test-proxy.ts'

const H1 = WIRES[0]!

interface Pair {
  readonly server: ScriptedServer
  readonly agent: ProxyAgent
}

async function start(t: import('node:test').TestContext, options: ProxyAgentOptions = {}): Promise<Pair> {
  const server = await startScriptedServer(t)
  const agent = new ProxyAgent({ uri: server.url, ...options })
  t.after(() => agent.destroy())
  return { server, agent }
}

describe('a forwarded request', () => {
  test('has the whole URL, the host of the target and the fields for the proxy', async (t) => {
    const { server, agent } = await start(t, { headers: { 'X-Own': '1', 'X-both': 'agent' }, token: 'T' })
    const answer = agent.request({
      origin: 'http://target.test:8080',
      path: '/p',
      query: { q: 1 },
      method: 'GET',
      headers: { 'x-BOTH': 'request', 'proxy-connection': 'keep-alive', 'x-last': '1' },
    })
    const peer = await server.accept()
    assert.equal(
      await peer.head(),
      'GET http://target.test:8080/p?q=1 HTTP/1.1\r\nhost: target.test:8080\r\nconnection: keep-alive\r\n' +
        'X-Own: 1\r\nproxy-authorization: T\r\nx-BOTH: request\r\nx-last: 1\r\n\r\n',
    )
    peer.send(OK)
    assert.equal(await (await answer).body.text(), 'ok')
  })

  for (const [what, options, line, host] of [
    ['an origin with a slash', { origin: 'http://h.test/', path: '/x' }, 'GET http://h.test/x', 'h.test'],
    ['a URL', { origin: new URL('http://h.test/'), path: '/x' }, 'GET http://h.test/x', 'h.test'],
    ['capitals', { origin: 'HTTP://H.Test:80', path: '/x' }, 'GET http://h.test/x', 'h.test'],
    [
      'OPTIONS *',
      { origin: 'http://h.test', path: '*', method: 'OPTIONS' },
      'OPTIONS http://h.test',
      'h.test',
    ],
    ['an IPv6 address', { origin: 'http://[::1]:81', path: '/' }, 'GET http://[::1]:81/', '[::1]:81'],
    [
      'a host header',
      { origin: 'http://h.test', path: '/', headers: { Host: 'other.test' } },
      'GET http://h.test/',
      'other.test',
    ],
  ] as const) {
    test(`with ${what}`, async (t) => {
      const { server, agent } = await start(t)
      const answer = agent.request({ method: 'GET', ...options } as never)
      const peer = await server.accept()
      const [first, second] = (await peer.head()).split('\r\n')
      assert.deepEqual([first, second], [`${line} HTTP/1.1`, `host: ${host}`])
      peer.send(OK)
      await (await answer).body.text()
    })
  }

  test('offers only HTTP/1.1 to a proxy with TLS', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h2+tls')
    const agent = proxy.agent()
    await readEcho(await agent.request({ origin: `http://a.test:${origin.port}`, path: '/', method: 'GET' }))
    assert.equal(proxy.forwards.length, 1)
    assert.equal(proxy.connects.length, 0)
  })

  test('carries a body, and the response goes through as it is', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    const answer = await proxy.agent().request({
      origin: `http://a.test:${origin.port}`,
      path: '/',
      method: 'POST',
      body: 'content',
    })
    const received = await readEcho(answer)
    assert.deepEqual([received.method, received.url, received.body], ['POST', '/', 'content'])
    assert.ok(proxy.servedAll(origin))
  })

  test('that asks for an upgrade goes through a tunnel', async (t) => {
    const { server, agent } = await start(t)
    const answer = agent.upgrade({ origin: 'http://h.test', path: '/', protocol: 'x' })
    const peer = await server.accept()
    assert.match(await peer.head(), /^CONNECT h\.test:80 /)
    peer.send('HTTP/1.1 200 OK\r\n\r\n')
    assert.match(
      await peer.head(),
      /^GET \/ HTTP\/1\.1\r\nhost: h\.test\r\nconnection: upgrade\r\nupgrade: x\r\n/,
    )
    peer.send('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    ;(await answer).socket.destroy()
  })

  test('that is a CONNECT goes through a tunnel', async (t) => {
    const { server, agent } = await start(t)
    const answer = agent.connect({ origin: 'http://h.test', path: 'other.test:1' })
    const peer = await server.accept()
    assert.match(await peer.head(), /^CONNECT h\.test:80 /)
    peer.send('HTTP/1.1 200 OK\r\n\r\n')
    assert.match(await peer.head(), /^CONNECT other\.test:1 /)
    peer.send('HTTP/1.1 200 OK\r\n\r\n')
    ;(await answer).socket.destroy()
  })
})

describe('the connections for forwarded requests', () => {
  test('any origin may follow on an idle one', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    const agent = proxy.agent()
    for (const name of ['a', 'b', 'c']) {
      const target = `http://${name}.test:${origin.port}`
      await readEcho(await agent.request({ origin: target, path: '/', method: 'GET' }))
    }
    assert.equal(proxy.sockets.length, 1)
  })

  test('connections limits them', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    const agent = proxy.agent({ connections: 2 })
    const get = { origin: `http://a.test:${origin.port}`, path: '/', method: 'GET' } as const
    for (const answer of Array.from({ length: 10 }, () => agent.request(get))) await readEcho(await answer)
    assert.equal(proxy.sockets.length, 2)
  })

  test('proxyKeepAlive: false closes each after its request', async (t) => {
    const { server, agent } = await start(t, { proxyKeepAlive: false })
    for (let i = 0; i < 2; i++) {
      const answer = agent.request({ origin: 'http://h.test', path: '/', method: 'GET' })
      const peer = await server.accept()
      assert.match(await peer.head(), /\r\nconnection: close\r\n/)
      peer.send(OK)
      await (await answer).body.text()
      await peer.closed()
    }
    assert.equal(server.count, 2)
  })
})

describe('a forwarded request fails', () => {
  test('with 407: one error that has the answer of the proxy, and nothing else', async (t) => {
    const proxy = await startProxy(t, 'h1', {
      judge: () => ({
        status: 407,
        headers: { 'proxy-authenticate': 'Basic realm="x"' },
        body: 'who are you?',
      }),
    })
    const agent = proxy.agent({ uri: proxy.url.replace('//', '//user:secret@') })
    const handler = new RecordingHandler()
    agent.dispatch({ origin: 'http://h.test', path: '/p?q', method: 'GET' }, handler)
    await handler.settled
    assert.equal(handler.story.at(-1), 'onResponseError')
    assert.ok(
      !handler.story.some((call) => /onResponse(?:Start \d|Data|End)/.test(call)),
      handler.story.join(),
    )
    const error = handler.error as Error & Record<string, unknown>
    assert.equal(error.name, 'ProxyConnectionError')
    assert.equal(error.code, 'UND_ERR_PRX_CONN')
    assert.equal(error.message, 'Proxy Authentication Required (407)')
    assert.equal(
      error.stack!.split('\n', 1)[0],
      `ProxyConnectionError: ${error.message} (GET http://h.test/p while waiting for the response head, at forward of the proxy ${proxy.url})`,
    )
    const info = error.proxy as ProxyErrorInfo
    assert.equal(info.uri, proxy.url)
    assert.equal(info.phase, 'forward')
    assert.equal(info.statusCode, 407)
    assert.equal(info.headers!['proxy-authenticate'], 'Basic realm="x"')
    assert.equal(info.body, 'who are you?')
    assert.deepEqual([error.origin, error.path, error.method], ['http://h.test', '/p', 'GET'])
    assert.ok(!JSON.stringify(error).includes('secret'))
  })

  test('with 407: whether it may be sent again depends on its body', async (t) => {
    const proxy = await startProxy(t, 'h1', { judge: () => ({ status: 407 }) })
    const agent = proxy.agent()
    for (const [body, expected] of [
      ['text', 'idempotent-only'],
      [Readable.from(['a stream']), 'no'],
    ] as const) {
      const error = await failure(agent.request({ origin: 'http://h.test', path: '/', method: 'PUT', body }))
      assert.equal(error.retrySafety, expected)
    }
  })

  test('not with a 407 that a new token answers: its end is not that of the response', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const answers = [{ status: 407, body: 'no' }, null]
    const proxy = await startProxy(t, 'h1', { judge: () => answers.shift()! })
    const handler = new RecordingHandler()
    const agent = proxy.agent({ token: () => 'T' })
    agent.dispatch({ origin: `http://h.test:${origin.port}`, path: '/', method: 'GET' }, handler)
    await handler.settled
    assert.deepEqual(handler.statuses, [200])
    assert.equal(handler.story.at(-1), 'onResponseEnd')
    assert.equal(handler.calls.filter((call) => call === 'onResponseEnd').length, 1)
    assert.ok(handler.chunks.length > 0)
  })

  test('with 407: the error keeps 4 KiB of an endless body', async (t) => {
    const { server, agent } = await start(t)
    const error = failure(agent.request({ origin: 'http://h.test', path: '/', method: 'GET' }))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 407 No\r\n\r\n', 'x'.repeat(70_000))
    const { body } = (await error).proxy as ProxyErrorInfo
    assert.equal(body, 'x'.repeat(4096))
    await peer.closed()
  })

  test('with 407: a page of some size does not cost the connection', async (t) => {
    const { server, agent } = await start(t)
    const ask = (): Promise<Error & Record<string, unknown>> =>
      failure(agent.request({ origin: 'http://h.test', path: '/', method: 'GET' }))
    let error = ask()
    const peer = await server.accept()
    for (let i = 0; i < 2; i++) {
      await peer.head()
      peer.send('HTTP/1.1 407 No\r\ncontent-length: 20000\r\n\r\n', 'x'.repeat(20_000))
      assert.equal(((await error).proxy as ProxyErrorInfo).body, 'x'.repeat(4096))
      error = ask()
    }
    // The third is on it as well.
    await peer.head()
    peer.end()
    await error
    assert.equal(server.count, 1)
  })

  test('with 407 without waiting for a body that does not come', async (t) => {
    const { FakeClock } = await import('../support/fake-clock.ts')
    const { server, agent } = await start(t)
    const clock = FakeClock.install(t)
    const error = failure(agent.request({ origin: 'http://h.test', path: '/', method: 'GET' }))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 407 No\r\ncontent-length: 10\r\n\r\npart')
    while (![...clock.active].some(({ delay }) => delay === 1000)) await new Promise(setImmediate)
    await clock.advance(1000)
    assert.equal(((await error).proxy as ProxyErrorInfo).statusCode, 407)
  })

  for (const status of [403, 502, 504]) {
    test(`not with ${status}, which is an ordinary response`, async (t) => {
      const proxy = await startProxy(t, 'h1', { judge: () => ({ status, body: 'no' }) })
      const answer = await proxy.agent().request({ origin: 'http://h.test', path: '/', method: 'GET' })
      assert.deepEqual([answer.statusCode, await answer.body.text()], [status, 'no'])
    })
  }

  test('when the proxy closes', async (t) => {
    const { server, agent } = await start(t)
    const error = failure(agent.request({ origin: 'http://h.test', path: '/p', method: 'POST', body: 'x' }))
    const peer = await server.accept()
    await peer.head()
    peer.end()
    const { name, message, proxy, origin, path, retrySafety } = await error
    assert.deepEqual([name, message], ['SocketError', 'other side closed'])
    assert.deepEqual([origin, path, retrySafety], ['http://h.test', '/p', 'idempotent-only'])
    assert.equal((proxy as ProxyErrorInfo).phase, 'forward')
  })

  test('when the proxy is not there', async (t) => {
    const port = await refusingPort(t)
    const agent = new ProxyAgent(`http://user:secret@127.0.0.1:${port}`)
    t.after(() => agent.destroy())
    const error = await failure(agent.request({ origin: 'http://h.test', path: '/', method: 'GET' }))
    assert.equal(error.code, 'ECONNREFUSED')
    assert.equal(error.phase, 'connecting')
    assert.equal(error.retrySafety, 'safe')
    assert.deepEqual(error.proxy, {
      uri: `http://127.0.0.1:${port}`,
      phase: 'proxy-dial',
      statusCode: null,
      headers: null,
      body: null,
      reply: null,
    })
  })

  for (const [what, options, limit] of [
    ['10 seconds by default', {}, 10_000],
    ['connectTimeout', { connectTimeout: 1234 }, 1234],
    ['proxyTls.timeout', { connectTimeout: 1234, proxyTls: { timeout: 567 } }, 567],
  ] as const) {
    test(`when TLS to the proxy takes too long: ${what}`, async (t) => {
      const { FakeClock } = await import('../support/fake-clock.ts')
      const server = await startScriptedServer(t)
      const uri = server.url.replace('http:', 'https:')
      const agent = new ProxyAgent({ uri, ...options })
      t.after(() => agent.destroy())
      const clock = FakeClock.install(t)
      const error = failure(agent.request({ origin: 'http://h.test', path: '/', method: 'GET' }))
      await (await server.accept()).until('\x16\x03')
      await clock.advance(limit)
      const { code, message, proxy, phase, retrySafety } = await error
      assert.equal(code, 'UND_ERR_CONNECT_TIMEOUT')
      assert.match(
        message,
        new RegExp(`attempted address: 127\\.0\\.0\\.1:${server.port}, timeout: ${limit}ms`),
      )
      assert.deepEqual([phase, retrySafety], ['connecting', 'safe'])
      const { uri: shown, phase: step } = proxy as ProxyErrorInfo
      assert.deepEqual([shown, step], [uri, 'proxy-tls'])
    })
  }

  test('with the reason of its signal, untouched', async (t) => {
    const { server, agent } = await start(t)
    const controller = new AbortController()
    const error = failure(
      agent.request({ origin: 'http://h.test', path: '/', method: 'GET', signal: controller.signal }),
    )
    const peer = await server.accept()
    await peer.head()
    const reason = new Error('enough')
    controller.abort(reason)
    assert.equal(await error, reason)
    assert.deepEqual(Object.keys(reason), [])
    await peer.closed()
  })
})
