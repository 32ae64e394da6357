/** A proxy that speaks HTTP/2: all tunnels are streams of one connection. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { ProxyAgent } from '../../src/index.ts'
import { CONNECT_ERROR } from '../../src/protocol/http2/constants.ts'
import { authority } from '../support/certificates.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { type H2Peer, startH2Server } from '../support/h2-server.ts'
import { startOrigin, type TestOrigin, WIRES, type Wire } from '../support/wire.ts'
import { startProxy } from './support/test-proxy.ts'

type TestContext = import('node:test').TestContext

const H1 = WIRES[0]!
const H1_TLS = WIRES[1]!
const H2_TLS = WIRES[2]!

async function startFrames(
  t: TestContext,
): Promise<{ agent: ProxyAgent; accept(): Promise<H2Peer>; count(): number }> {
  const server = await startH2Server(t, { alpn: ['h2'] })
  const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true, proxyTls: { ca: authority } })
  t.after(() => agent.destroy())
  return { agent, accept: () => server.accept(), count: () => server.count }
}

const GET = { origin: 'http://target.test', path: '/', method: 'GET' } as const
const RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('CONNECT over HTTP/2', () => {
  test('has :method and :authority, and no :scheme, :path or proxy-connection', async (t) => {
    const { agent, accept } = await startFrames(t)
    const answer = agent.request(GET)
    const peer = await accept()
    const { id, headers, endStream } = await peer.request()
    assert.deepEqual(headers, { ':method': 'CONNECT', ':authority': 'target.test:80' })
    assert.equal(endStream, false)
    peer.head(id, 200)
    const { payload } = await peer.frame(0, id)
    assert.match(payload.toString(), /^GET \/ HTTP\/1\.1\r\nhost: target\.test\r\n/)
    peer.data(id, RESPONSE)
    assert.equal(await (await answer).body.text(), 'ok')
  })

  test('a plain tunnel is HTTP/1.1, whatever the proxy speaks', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h2+tls')
    const agent = proxy.agent({ proxyTunnel: true })
    await readEcho(await agent.request({ ...GET, origin: `http://a.test:${origin.port}` }))
    assert.equal(proxy.connects[0]!.headers[':method'], 'CONNECT')
  })

  test('END_STREAM of the proxy is the end of the connection', async (t) => {
    const { agent, accept } = await startFrames(t)
    const error = failure(agent.request({ ...GET, method: 'POST', body: 'x' }))
    const peer = await accept()
    const { id } = await peer.request()
    peer.head(id, 200)
    await peer.frame(0, id)
    peer.data(id, '', true)
    const { name, message } = await error
    assert.deepEqual([name, message], ['SocketError', 'other side closed'])
  })

  test('RST_STREAM with CONNECT_ERROR is a reset of the connection, and others go on', async (t) => {
    const { agent, accept, count } = await startFrames(t)
    const error = failure(agent.request({ ...GET, method: 'POST', body: 'x' }))
    const peer = await accept()
    const first = await peer.request()
    peer.head(first.id, 200)
    await peer.frame(0, first.id)
    const second = agent.request({ ...GET, origin: 'http://b.test' })
    const { id } = await peer.request()
    peer.head(id, 200)
    await peer.frame(0, id)
    peer.reset(first.id, CONNECT_ERROR)
    assert.ok((await error) instanceof Error)
    peer.data(id, RESPONSE)
    assert.equal(await (await second).body.text(), 'ok')
    assert.equal(count(), 1)
  })

  test('a stream that is reset instead of an answer', async (t) => {
    const { agent, accept } = await startFrames(t)
    const error = failure(agent.request(GET))
    const peer = await accept()
    peer.reset((await peer.request()).id, CONNECT_ERROR)
    const { name, proxy, cause } = await error
    assert.equal(name, 'ProxyConnectionError')
    assert.equal((proxy as { phase: string }).phase, 'proxy-connect')
    assert.ok(cause instanceof Error)
  })

  test('a session that ends under CONNECT fails the request, and is not opened again and again', async (t) => {
    const { agent, accept, count } = await startFrames(t)
    const error = failure(agent.request(GET))
    const peer = await accept()
    await peer.request()
    peer.end()
    assert.equal((await error).name, 'ProxyConnectionError')
    assert.equal(count(), 1)
  })

  test('an aborted request cancels its stream, not the session', async (t) => {
    const { agent, accept, count } = await startFrames(t)
    const controller = new AbortController()
    const error = failure(agent.request({ ...GET, signal: controller.signal }))
    const peer = await accept()
    const { id } = await peer.request()
    controller.abort()
    await error
    await peer.resetOf(id)
    const second = agent.request(GET)
    const next = await peer.request()
    peer.head(next.id, 200)
    await peer.frame(0, next.id)
    peer.data(next.id, RESPONSE)
    assert.equal(await (await second).body.text(), 'ok')
    assert.equal(count(), 1)
  })

  test('a stalled tunnel does not stall others', async (t) => {
    const content = Buffer.alloc(4 << 20, 'x')
    const origin = await startOrigin(t, H1, (_request, response) => response.end(content))
    const proxy = await startProxy(t, 'h2+tls')
    const agent = proxy.agent({ proxyTunnel: true })
    const stalled = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        agent.request({ ...GET, origin: `http://${name}.test:${origin.port}` }),
      ),
    )
    const { body } = await agent.request({ ...GET, origin: `http://e.test:${origin.port}` })
    assert.equal((await body.arrayBuffer()).byteLength, content.length)
    for (const answer of stalled) answer.body.on('error', () => {}).destroy()
    assert.equal(proxy.sockets.length, 1)
  })

  test('at the stream limit another session is opened', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h2+tls', { http2: { settings: { maxConcurrentStreams: 2 } } })
    const agent = proxy.agent({ proxyTunnel: true })
    const answers = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      agent.request({ ...GET, origin: `http://${name}.test:${origin.port}` }),
    )
    for (const answer of answers) await readEcho(await answer)
    assert.equal(proxy.connects.length >= 5, true)
    assert.ok(proxy.sockets.length > 1 && proxy.sockets.length <= 5, String(proxy.sockets.length))
  })

  test('proxyTls.allowH2: false speaks HTTP/1.1 to the proxy', async (t) => {
    const origin = await startOrigin(t, H1_TLS, echo)
    const proxy = await startProxy(t, 'h2+tls')
    const agent = proxy.agent({ proxyTls: { allowH2: false } })
    await readEcho(await agent.request({ ...GET, origin: origin.url }))
    assert.equal(proxy.connects[0]!.headers[':method'], undefined)
  })
})

async function thousand(t: TestContext, wire: Wire): Promise<void> {
  const origins: TestOrigin[] = []
  for (let i = 0; i < 20; i++)
    origins.push(await startOrigin(t, wire, (_request, response) => response.end('ok')))
  const proxy = await startProxy(t, 'h2+tls', { http2: { settings: { maxConcurrentStreams: 2000 } } })
  const agent = proxy.agent({ connections: 5 })
  const answers = Array.from({ length: 1000 }, async (_, i) => {
    const { body } = await agent.request({ ...GET, origin: origins[i % 20]!.url })
    return body.text()
  })
  const texts = await Promise.all(answers)
  assert.ok(texts.every((text) => text === 'ok'))
  assert.equal(proxy.sockets.length, 1)
  assert.ok(origins.every((origin) => proxy.servedAll(origin)))
}

describe('1,000 concurrent requests to 20 origins use one connection to the proxy', () => {
  test('with HTTP/2 inside', (t) => thousand(t, H2_TLS))
  test('with HTTP/1.1 and TLS inside', (t) => thousand(t, H1_TLS))
})

test('tunnels that were opened and closed leave nothing behind', async (t) => {
  const origin = await startOrigin(t, H1, (_request, response) => response.end('ok'))
  for (const wire of ['h1', 'h2+tls'] as const) {
    const proxy = await startProxy(t, wire)
    const agent = proxy.agent({ proxyTunnel: true, pipelining: 0 })
    for (let i = 0; i < 50; i++) {
      const { body } = await agent.request({ ...GET, origin: `http://n${i}.test:${origin.port}` })
      await body.text()
    }
    await eventually(() => proxy.tunnels.size === 0 && Object.keys(agent.stats).length === 1)
    assert.equal(agent.stats.proxy.size, 0)
    const disconnected = once(agent, 'disconnect')
    await agent.close()
    void disconnected.catch(() => {})
  }
})
