/** fetch, WebSocket, interceptors and the older handlers through a proxy agent. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { WebSocketServer } from 'ws'
import { fetch, type ProxyAgent, request, WebSocket } from '../../src/index.ts'
import { localhost } from '../support/certificates.ts'
import { echo, readEcho } from '../support/exchange.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { PROXY_WIRES, startProxy } from './support/test-proxy.ts'

type TestContext = import('node:test').TestContext

const TARGETS = WIRES.filter(({ name }) => name !== 'h2c')

for (const proxyWire of PROXY_WIRES) {
  for (const wire of TARGETS) {
    describe(`through ${proxyWire} to ${wire.name}`, () => {
      test('fetch', async (t) => {
        const origin = await startOrigin(t, wire, echo)
        const proxy = await startProxy(t, proxyWire)
        const url = `${wire.secure ? 'https' : 'http'}://a.example.test:${origin.port}/p`
        const response = await fetch(url, { dispatcher: proxy.agent(), method: 'POST', body: 'x' })
        const { method, url: path, body } = (await response.json()) as Record<string, string>
        assert.deepEqual([method, path, body], ['POST', '/p', 'x'])
        assert.ok(proxy.servedAll(origin))
      })

      test('a composed interceptor, and request() with a URL', async (t) => {
        const origin = await startOrigin(t, wire, echo)
        const proxy = await startProxy(t, proxyWire)
        const agent = proxy.agent()
        const seen: unknown[] = []
        const composed = agent.compose((dispatch) => (options, handler) => {
          seen.push(String(options.origin))
          return dispatch({ ...options, headers: { 'x-added': '1' } }, handler)
        })
        const target = `${wire.secure ? 'https' : 'http'}://a.example.test:${origin.port}`
        const { headers } = await readEcho(await request(`${target}/`, { dispatcher: composed }))
        assert.equal(headers['x-added'], '1')
        assert.deepEqual(seen, [target])
      })
    })
  }
}

async function startWebSocketServer(
  t: TestContext,
  isSecure: boolean,
): Promise<{ port: number; headers: http.IncomingHttpHeaders[] }> {
  const server = isSecure ? https.createServer(localhost) : http.createServer()
  const headers: http.IncomingHttpHeaders[] = []
  const webSockets = new WebSocketServer({ server })
  webSockets.on('connection', (socket, handshake) => {
    headers.push(handshake.headers)
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    webSockets.close()
    server.close()
    server.closeAllConnections()
  })
  return { port: (server.address() as AddressInfo).port, headers }
}

async function converse(agent: ProxyAgent, url: string): Promise<string> {
  const socket = new WebSocket(url, { dispatcher: agent })
  const answer = new Promise<string>((resolve, reject) => {
    socket.addEventListener('open', () => socket.send('hello'))
    socket.addEventListener('message', ({ data }) => resolve(String(data)))
    socket.addEventListener('error', (event) => reject((event as unknown as { error: Error }).error))
  })
  const text = await answer
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
  socket.close()
  await closed
  return text
}

for (const proxyWire of PROXY_WIRES) {
  for (const scheme of ['ws', 'wss']) {
    test(`WebSocket with ${scheme}: through ${proxyWire}`, async (t) => {
      const { port, headers } = await startWebSocketServer(t, scheme === 'wss')
      const proxy = await startProxy(t, proxyWire)
      const agent = proxy.agent({ token: 'secret' })
      assert.equal(await converse(agent, `${scheme}://a.example.test:${port}/`), 'hello')
      assert.equal(proxy.connects.length, 1)
      assert.equal(proxy.forwards.length, 0)
      assert.equal(headers[0]!['proxy-authorization'], undefined)
    })
  }
}

test("the runtime's fetch", async (t) => {
  const origin = await startOrigin(t, WIRES[1]!, echo)
  const proxy = await startProxy(t, 'h1')
  const init = { dispatcher: proxy.agent() } as unknown as RequestInit
  const response = await globalThis.fetch(`https://a.example.test:${origin.port}/p`, init)
  assert.equal(((await response.json()) as { url: string }).url, '/p')
  assert.equal(proxy.connects.length, 1)
})
