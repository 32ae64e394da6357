/** Requests through tunnels: every kind of proxy before every kind of target. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { ProxyAgent } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'
import { OK } from '../support/scripted-client.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startOrigin, WIRES, type Wire } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

holdTlsSessions()

const TARGETS = WIRES.filter(({ name }) => name !== 'h2c')
const H1 = TARGETS[0]!
const H1_TLS = TARGETS[1]!
const H2_TLS = TARGETS[2]!

/** A name that only the proxy can reach, and that the certificate of the origin is for. */
function nameOf(wire: Wire, port: number): string {
  return `${wire.secure ? 'https' : 'http'}://a.example.test:${port}`
}

for (const proxyWire of PROXY_WIRES) {
  for (const wire of TARGETS) {
    describe(`a tunnel through a proxy over ${proxyWire} to a target over ${wire.name}`, () => {
      test('carries requests, and only the proxy sees what is meant for it', async (t) => {
        const origin = await startOrigin(t, wire, echo)
        const proxy = await startProxy(t, proxyWire)
        const agent = proxy.agent({ proxyTunnel: true, token: 'Bearer secret', headers: { 'x-proxy': 'hi' } })
        const answer = await agent.request({
          origin: nameOf(wire, origin.port),
          path: '/p?q=1',
          method: 'POST',
          headers: { 'x-request': 'there' },
          body: 'content',
        })
        const received = await readEcho(answer)
        assert.deepEqual([received.method, received.url, received.body], ['POST', '/p?q=1', 'content'])
        assert.equal(received.headers['x-request'], 'there')
        assert.equal(received.headers['x-proxy'], undefined)
        assert.equal(received.headers['proxy-authorization'], undefined)
        const [asked] = proxy.connects
        assert.equal(asked!.target, `a.example.test:${origin.port}`)
        assert.equal(asked!.headers['x-proxy'], 'hi')
        assert.equal(asked!.headers['proxy-authorization'], 'Bearer secret')
        assert.equal(asked!.headers['x-request'], undefined)
        assert.equal(asked!.headers['proxy-connection'], undefined)
        assert.ok(proxy.servedAll(origin))
      })

      test('is used again', async (t) => {
        const origin = await startOrigin(t, wire, echo)
        const proxy = await startProxy(t, proxyWire)
        const agent = proxy.agent({ proxyTunnel: true })
        for (let i = 0; i < 3; i++) {
          await readEcho(await agent.request({ origin: nameOf(wire, origin.port), path: '/', method: 'GET' }))
        }
        assert.equal(proxy.connects.length, 1)
        assert.equal(origin.sockets.length, 1)
      })

      test('carries megabytes both ways', async (t) => {
        const origin = await startOrigin(t, wire, (request, response) => request.pipe(response))
        const proxy = await startProxy(t, proxyWire)
        const agent = proxy.agent({ proxyTunnel: true })
        const content = Buffer.alloc(3 << 20, 'ventuno')
        const { body } = await agent.request({
          origin: nameOf(wire, origin.port),
          path: '/',
          method: 'POST',
          body: content,
        })
        assert.ok(Buffer.from(await body.arrayBuffer()).equals(content))
      })
    })
  }
}

describe('CONNECT', () => {
  test('names host and port, and nothing of the request', async (t) => {
    const server = await startScriptedServer(t)
    const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true, headers: { 'X-Own': '1' } })
    t.after(() => agent.destroy())
    const answer = agent.request({
      origin: 'http://name.test',
      path: '/inside',
      method: 'GET',
      headers: { host: 'other.test', 'x-request': '1' },
    })
    const peer = await server.accept()
    assert.equal(
      await peer.head(),
      'CONNECT name.test:80 HTTP/1.1\r\nhost: name.test:80\r\nconnection: close\r\nX-Own: 1\r\n\r\n',
    )
    peer.send('HTTP/1.1 200 OK\r\n\r\n')
    assert.equal(
      await peer.head(),
      'GET /inside HTTP/1.1\r\nhost: other.test\r\nconnection: keep-alive\r\nx-request: 1\r\n\r\n',
    )
    peer.send(OK)
    assert.equal(await (await answer).body.text(), 'ok')
  })

  for (const [origin, authorityForm] of [
    ['http://[::1]', '[::1]:80'],
    ['http://[::1]:8080', '[::1]:8080'],
    ['https://name.test', 'name.test:443'],
    ['http://127.1:81', '127.0.0.1:81'],
    ['http://bücher.test', 'xn--bcher-kva.test:80'],
  ] as const) {
    test(`to ${origin} is for ${authorityForm}`, async (t) => {
      const server = await startScriptedServer(t)
      const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true })
      t.after(() => agent.destroy())
      const answer = failure(agent.request({ origin, path: '/', method: 'GET' }))
      const peer = await server.accept()
      assert.ok(
        (await peer.head()).startsWith(`CONNECT ${authorityForm} HTTP/1.1\r\nhost: ${authorityForm}\r\n`),
      )
      peer.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
      await answer
    })
  }

  for (const [what, head] of [
    ['201', 'HTTP/1.1 201 Created\r\n\r\n'],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['299', 'HTTP/1.1 299 Fine\r\n\r\n'],
    [
      '100 and 103 before the 200',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    ],
    ['200 with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'],
    ['200 with chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['200 of HTTP/1.0', 'HTTP/1.0 200 Connection established\r\n\r\n'],
  ] as const) {
    test(`${what} opens the tunnel`, async (t) => {
      const server = await startScriptedServer(t)
      const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true })
      t.after(() => agent.destroy())
      const answer = agent.request({ origin: 'http://name.test', path: '/', method: 'GET' })
      const peer = await server.accept()
      await peer.head()
      peer.send(head)
      await peer.head()
      peer.send(OK)
      assert.equal(await (await answer).body.text(), 'ok')
    })
  }

  test('bytes after the 200 of a plain tunnel answer no request', async (t) => {
    const server = await startScriptedServer(t)
    const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true })
    t.after(() => agent.destroy())
    const error = failure(agent.request({ origin: 'http://name.test', path: '/', method: 'GET' }))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil')
    const { name, message, proxy } = await error
    assert.deepEqual([name, message], ['SocketError', 'bad response'])
    assert.equal((proxy as { phase: string }).phase, 'proxy-connect')
    await peer.closed()
    assert.equal(server.count, 1)
  })
})

describe('the pools of targets', () => {
  test('10 requests with 2 connections: 2 tunnels', async (t) => {
    const origin = await startOrigin(t, H1_TLS, echo)
    const proxy = await startProxy(t, 'h1')
    const agent = proxy.agent({ connections: 2 })
    const target = nameOf(H1_TLS, origin.port)
    const answers = Array.from({ length: 10 }, () =>
      agent.request({ origin: target, path: '/', method: 'GET' }),
    )
    for (const answer of answers) await readEcho(await answer)
    assert.equal(proxy.connects.length, 2)
  })

  test('20 requests over HTTP/2 share a tunnel', async (t) => {
    const origin = await startOrigin(t, H2_TLS, echo)
    const proxy = await startProxy(t, 'h1')
    const agent = proxy.agent()
    const target = nameOf(H2_TLS, origin.port)
    for (let round = 0; round < 2; round++) {
      const answers = Array.from({ length: 10 }, () =>
        agent.request({ origin: target, path: '/', method: 'GET' }),
      )
      for (const answer of answers) await readEcho(await answer)
    }
    assert.equal(proxy.connects.length, 1)
  })

  test('a request without HTTP/2 has a tunnel of its own', async (t) => {
    const origin = await startOrigin(t, H1_TLS, echo)
    const proxy = await startProxy(t, 'h1')
    const agent = proxy.agent()
    const target = nameOf(H1_TLS, origin.port)
    const get = { origin: target, path: '/', method: 'GET' } as const
    await readEcho(await agent.request(get))
    await readEcho(await agent.request({ ...get, allowH2: false } as typeof get))
    assert.equal(proxy.connects.length, 2)
    assert.deepEqual(Object.keys(agent.stats).sort(), [target, `${target}#h1`, 'proxy'].sort())
  })

  for (const [what, options] of [
    ['allowH2: false', { allowH2: false }],
    ['requestTls.allowH2: false', { requestTls: { allowH2: false } }],
  ] as const) {
    test(`${what}: HTTP/1.1 inside`, async (t) => {
      const { createSecureServer } = await import('node:http2')
      const { localhost } = await import('../support/certificates.ts')
      const versions: string[] = []
      const server = createSecureServer({ ...localhost, allowHTTP1: true }, (request, response) => {
        versions.push(request.httpVersion)
        response.end('ok')
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      t.after(() => server.close())
      const { port } = server.address() as { port: number }
      const proxy = await startProxy(t, 'h1')
      const get = { origin: `https://localhost:${port}`, path: '/', method: 'GET' } as const
      const plain = proxy.agent()
      await (await plain.request(get)).body.text()
      const limited = proxy.agent(options)
      await (await limited.request(get)).body.text()
      assert.deepEqual(versions, ['2.0', '1.1'])
      await Promise.all([plain.close(), limited.close()])
    })
  }

  test('another host header opens another tunnel', async (t) => {
    const origin = await startOrigin(t, H1_TLS, echo)
    const proxy = await startProxy(t, 'h1')
    const agent = new ProxyAgent({ uri: proxy.url, connect: { ca: authority } })
    t.after(() => agent.destroy())
    const target = nameOf(H1_TLS, origin.port)
    await readEcho(await agent.request({ origin: target, path: '/', method: 'GET' }))
    const headers = { host: 'b.example.test' }
    await readEcho(await agent.request({ origin: target, path: '/', method: 'GET', headers }))
    assert.deepEqual(
      proxy.connects.map((asked) => asked.target),
      [`a.example.test:${origin.port}`, `a.example.test:${origin.port}`],
    )
  })

  test('TLS sessions are resumed, on each side its own', async (t) => {
    const origin = await startOrigin(t, H1_TLS, echo)
    const proxy = await startProxy(t, 'h1+tls')
    const reused: Record<'target' | 'proxy', boolean[]> = { target: [], proxy: [] }
    origin.server.on('secureConnection', (socket: TLSSocket) => reused.target.push(socket.isSessionReused()))
    proxy.server.on('secureConnection', (socket: TLSSocket) => reused.proxy.push(socket.isSessionReused()))
    const agent = proxy.agent({ pipelining: 0 })
    for (let i = 0; i < 2; i++) {
      await readEcho(await agent.request({ origin: nameOf(H1_TLS, origin.port), path: '/', method: 'GET' }))
    }
    assert.deepEqual(reused, { target: [false, true], proxy: [false, true] })
  })

  test('two agents share nothing', async (t) => {
    const origin = await startOrigin(t, H1, echo)
    const proxy = await startProxy(t, 'h1')
    for (const agent of [proxy.agent(), proxy.agent()]) {
      const get = { origin: nameOf(H1, origin.port), path: '/', method: 'GET' } as const
      await readEcho(await agent.request(get))
    }
    assert.equal(proxy.sockets.length, 2)
  })
})
