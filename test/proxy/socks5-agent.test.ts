// Requests through a SOCKS 5 proxy, over every protocol that a target can speak.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { WebSocketServer } from 'ws'
import {
  Client,
  type Dispatcher,
  fetch,
  Pool,
  request,
  Socks5ProxyAgent,
  type Socks5ProxyAgentOptions,
  WebSocket,
} from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { overEachWire, startOrigin, WIRES, type Wire } from '../support/wire.ts'

holdTlsSessions()

const GET = { path: '/', method: 'GET' } as const
const [H1, H1_TLS, H2] = WIRES as [Wire, Wire, Wire, Wire]

function agentFor(
  t: TestContext,
  { url }: { readonly url: string },
  options: Socks5ProxyAgentOptions = {},
): Socks5ProxyAgent {
  const agent = new Socks5ProxyAgent(url, { requestTls: { ca: authority }, ...options })
  t.after(() => agent.destroy())
  return agent
}

const textOf = async (response: { body: { text(): Promise<string> } }): Promise<string> =>
  response.body.text()

overEachWire('through SOCKS', (wire) => {
  test('a request and its body arrive, and the connection is kept', async (t) => {
    const proxy = await startSocksServer(t)
    const origin = await startOrigin(t, wire, echo)
    const agent = agentFor(t, proxy, { useH2c: wire.name === 'h2c' })
    for (const path of ['/one', '/two']) {
      const sent = 'x'.repeat(200_000)
      const answer = await agent.request({ origin: origin.url, path, method: 'POST', body: sent })
      const { method, url, body } = await readEcho(answer)
      assert.deepEqual([method, url, body === sent], ['POST', path, true])
    }
    assert.deepEqual(proxy.requests, [`name localhost:${origin.port}`])
    assert.equal(origin.sockets.length, 1)
  })
})

test('inside the tunnel ALPN decides: HTTP/2 when the target offers it', async (t) => {
  const proxy = await startSocksServer(t)
  const server = http2.createSecureServer({ ...localhost, allowHTTP1: true }, (request, response) =>
    response.end(request.httpVersion),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  const versions: string[] = []
  for (const options of [{}, { allowH2: false }, { requestTls: { ca: authority, allowH2: false } }]) {
    const agent = agentFor(t, proxy, options)
    versions.push(await textOf(await agent.request({ origin, ...GET })))
  }
  const single = { origin, ...GET, allowH2: false }
  versions.push(await textOf(await agentFor(t, proxy).request(single)))
  assert.deepEqual(versions, ['2.0', '1.1', '1.1', '1.1'])
})

test('over HTTP/2 many requests share one tunnel', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H2, echo)
  const agent = agentFor(t, proxy)
  for (let round = 0; round < 2; round++) {
    const answers = Array.from({ length: 10 }, () =>
      agent.request({ origin: origin.url, ...GET }).then(readEcho),
    )
    await Promise.all(answers)
  }
  assert.equal(proxy.requests.length, 1)
})

test('pool options hold: connections: 2 opens two tunnels for ten requests', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  for (const [connections, tunnels] of [
    [1, 1],
    [2, 2],
  ] as const) {
    const before = proxy.requests.length
    const agent = agentFor(t, proxy, { connections })
    const answers = Array.from({ length: 10 }, () =>
      agent.request({ origin: origin.url, ...GET }).then(readEcho),
    )
    await Promise.all(answers)
    assert.equal(proxy.requests.length - before, tunnels)
  }
})

test('other options of clients hold, too', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, (_request, response) => response.end('x'.repeat(100)))
  const agent = agentFor(t, proxy, { maxResponseSize: 10 })
  const answer = await agent.request({ origin: origin.url, ...GET })
  assert.equal((await failure(answer.body.text())).code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
  const limited = agentFor(t, proxy, { maxOrigins: 1 })
  await textOf(await limited.request({ origin: origin.url, ...GET }))
  assert.equal(
    (await failure(limited.request({ origin: 'http://x.test', ...GET }))).code,
    'UND_ERR_MAX_ORIGINS_REACHED',
  )
})

test('a factory makes the dispatchers of the targets', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const made: unknown[] = []
  const agent = agentFor(t, proxy, {
    factory: (url, options) => {
      made.push(String(url))
      return new Pool(url, options as object)
    },
  })
  await readEcho(await agent.request({ origin: origin.url, ...GET }))
  assert.deepEqual(made, [origin.url])
  assert.equal(proxy.requests.length, 1)
})

test('the connections of a second agent are its own', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  for (const agent of [agentFor(t, proxy), agentFor(t, proxy)]) {
    await readEcho(await agent.request({ origin: origin.url, ...GET }))
  }
  assert.equal(proxy.requests.length, 2)
})

test('TLS sessions of targets are resumed', async (t) => {
  const proxy = await startSocksServer(t)
  const reused: boolean[] = []
  const origin = await startOrigin(t, H1_TLS, (request: IncomingMessage, response) => {
    reused.push((request.socket as TLSSocket).isSessionReused())
    response.setHeader('connection', 'close')
    response.end('ok')
  })
  const agent = agentFor(t, proxy)
  for (let i = 0; i < 3; i++) {
    await textOf(await agent.request({ origin: origin.url, ...GET }))
    await eventually(() => proxy.open.size === 0)
  }
  assert.equal(reused[0], false)
  assert.ok(reused.slice(1).includes(true), String(reused))
})

test('TLS to the proxy: any proxyTls switches it on', async (t) => {
  for (const wire of [H1, H1_TLS, H2]) {
    const proxy = await startSocksServer(t, { tls: localhost })
    const origin = await startOrigin(t, wire, echo)
    const agent = agentFor(t, proxy, { proxyTls: { ca: authority } })
    const sent = 'y'.repeat(100_000)
    const { body } = await readEcho(
      await agent.request({ origin: origin.url, path: '/', method: 'POST', body: sent }),
    )
    assert.equal(body === sent, true, wire.name)
  }
})

test('the proxy gets its own server name and no ALPN offer, and its choice is not that of the target', async (t) => {
  const proxy = await startSocksServer(t, { tls: { ...localhost, ALPNProtocols: ['h2'] } })
  const origin = await startOrigin(t, H1, (request, response) => response.end(request.httpVersion))
  const url = `socks5://localhost:${proxy.port}`
  const agent = agentFor(t, { url }, { proxyTls: { ca: authority } })
  assert.equal(await textOf(await agent.request({ origin: origin.url, ...GET })), '1.1')
  const socket = proxy.accepted[0] as TLSSocket & { servername: unknown }
  assert.deepEqual([socket.servername, socket.alpnProtocol], ['localhost', false])
  const byAddress = agentFor(t, proxy, { proxyTls: { ca: authority } })
  await textOf(await byAddress.request({ origin: origin.url, ...GET }))
  assert.equal((proxy.accepted[1] as TLSSocket & { servername: unknown }).servername, false)
})

test('a connect function opens the connections to the proxy', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const net = await import('node:net')
  const targets: unknown[] = []
  const agent = agentFor(
    t,
    { url: 'socks5://proxy.test' },
    {
      connect: (target, callback) => {
        targets.push(target)
        const socket = net.connect(proxy.port, '127.0.0.1', () => {
          // What TLS to the proxy has negotiated is not about the target.
          callback(null, Object.assign(socket, { alpnProtocol: 'h2' }))
        })
      },
    },
  )
  await readEcho(await agent.request({ origin: origin.url, ...GET }))
  const [target] = targets as [Record<string, unknown>]
  assert.deepEqual(
    [target['hostname'], target['host'], target['port'], target['protocol']],
    ['proxy.test', 'proxy.test', '1080', 'http:'],
  )
})

test('a connect object is less important requestTls', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1_TLS, echo)
  const agent = new Socks5ProxyAgent(proxy.url, { connect: { ca: authority } })
  t.after(() => agent.destroy())
  await readEcho(await agent.request({ origin: origin.url, ...GET }))
})

test('the server name: requestTls first, then the host header, and none for an IP address', async (t) => {
  const names: unknown[] = []
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1_TLS, (request: IncomingMessage, response) => {
    names.push((request.socket as TLSSocket & { servername: unknown }).servername)
    response.end('ok')
  })
  const fixed = agentFor(t, proxy, { requestTls: { ca: authority, servername: 'a.example.test' } })
  await textOf(await fixed.request({ origin: origin.url, ...GET, headers: { host: 'b.example.test' } }))
  const open = agentFor(t, proxy)
  await textOf(await open.request({ origin: origin.url, ...GET, headers: { host: 'c.example.test' } }))
  await textOf(await open.request({ origin: `https://127.0.0.1:${origin.port}`, ...GET }))
  assert.deepEqual(names, ['a.example.test', 'c.example.test', false])
})

test('fetch, request and WebSocket take the agent', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const dispatcher = agentFor(t, proxy)
  const answer = await fetch(`${origin.url}/fetched`, { dispatcher })
  assert.equal(((await answer.json()) as { url: string }).url, '/fetched')
  assert.equal((await readEcho(await request(`${origin.url}/asked`, { dispatcher }))).url, '/asked')
  assert.equal(proxy.requests.length, 1)
})

test('a WebSocket goes through the tunnel', async (t) => {
  const proxy = await startSocksServer(t)
  const server = http.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('message', (text) => socket.send(`you said ${String(text)}`))
  })
  const { port } = server.address() as AddressInfo
  const socket = new WebSocket(`ws://chat.test:${port}`, { dispatcher: agentFor(t, proxy) })
  const said = deferred<string>()
  socket.onopen = () => socket.send('hello')
  socket.onmessage = ({ data }) => said.resolve(data as string)
  assert.equal(await said.promise, 'you said hello')
  assert.deepEqual(proxy.requests, [`name chat.test:${port}`])
  socket.close()
  await new Promise<void>((resolve) => {
    socket.onclose = () => resolve()
  })
})

test('interceptors see requests before the agent does', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const agent = agentFor(t, proxy).compose(
    (dispatch) => (options, handler) => dispatch({ ...options, path: '/changed' }, handler),
  )
  assert.equal((await readEcho(await agent.request({ origin: origin.url, ...GET }))).url, '/changed')
})

test('events are those of an agent, with this agent in front', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const agent = agentFor(t, proxy)
  const events: unknown[][] = []
  for (const event of ['connect', 'disconnect', 'connectionError', 'drain'] as const) {
    agent.on(event, (url: URL, targets: readonly Dispatcher[]) => {
      events.push([event, url.origin, targets[0] === agent, targets.length])
    })
  }
  await readEcho(await agent.request({ origin: origin.url, ...GET }))
  proxy.accepted[0]!.destroy()
  await eventually(() => events.some(([name]) => name === 'disconnect'))
  assert.deepEqual(events[0], ['connect', origin.url, true, 3])
  assert.deepEqual(events.at(-1), ['disconnect', origin.url, true, 3])
})

test('a false of dispatch is followed by drain', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const agent = agentFor(t, proxy, { connections: 1 })
  const handlers = [new RecordingHandler(), new RecordingHandler()]
  const results = handlers.map((handler) => agent.dispatch({ origin: origin.url, ...GET }, handler))
  assert.equal(results.at(-1), false)
  assert.equal(Reflect.get(agent, 'needsDrain'), true)
  await once(agent, 'drain')
  assert.equal(Reflect.get(agent, 'needsDrain'), false)
  await Promise.all(handlers.map(({ settled }) => settled))
})

test('connectionError is emitted for what fails at the proxy', async (t) => {
  const proxy = await startSocksServer(t, { credentials: { username: 'u', password: 'p' } })
  const agent = agentFor(t, proxy)
  const errors: Error[] = []
  agent.on('connectionError', (_url, _targets, error) => errors.push(error))
  const error = await failure(agent.request({ origin: 'http://x.test', ...GET }))
  assert.equal(error.code, 'UND_ERR_SOCKS5_AUTH_REJECTED')
  assert.equal(errors.length, 1)
  assert.equal((errors[0] as Error & { code: string }).code, 'UND_ERR_SOCKS5_AUTH_REJECTED')
})

test('stats are those of an agent, and the tunnels', async (t) => {
  const proxy = await startSocksServer(t)
  const mayAnswer = deferred()
  const origin = await startOrigin(t, H1, async (_request, response) => {
    await mayAnswer.promise
    response.end('ok')
  })
  const agent = agentFor(t, proxy)
  const answer = agent.request({ origin: origin.url, ...GET })
  assert.deepEqual(agent.stats.proxy, { connected: 0, free: 0, pending: 1, queued: 0, running: 0, size: 1 })
  await eventually(() => agent.stats.proxy.connected === 1)
  assert.equal(agent.stats.proxy.pending, 0)
  assert.equal(agent.stats[origin.url]?.running, 1)
  mayAnswer.resolve()
  await textOf(await answer)
  await agent.close()
  await eventually(() => agent.stats.proxy.connected === 0)
})

test('close waits for what is queued', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const agent = agentFor(t, proxy, { connections: 1 })
  const answers = [1, 2, 3].map(() => agent.request({ origin: origin.url, ...GET }).then(readEcho))
  const closed = agent.close()
  assert.equal(agent.closed, true)
  assert.equal((await failure(agent.request({ origin: origin.url, ...GET }))).code, 'UND_ERR_CLOSED')
  await Promise.all(answers)
  await closed
  await eventually(() => proxy.open.size === 0)
  assert.equal((await failure(agent.request({ origin: origin.url, ...GET }))).code, 'UND_ERR_DESTROYED')
})

test('the WebSocket limits of the options are those of the agent', (t) => {
  const agent = agentFor(t, { url: 'socks5://127.0.0.1:1' }, { webSocket: { maxPayloadSize: 5 } })
  assert.equal(agent.webSocketOptions.maxPayloadSize, 5)
})

test('names and addresses of targets reach the proxy as they are', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const agent = agentFor(t, proxy)
  for (const host of ['bücher.test', '127.0.0.1', '[::1]', 'x.test.']) {
    await readEcho(await agent.request({ origin: `http://${host}:${origin.port}`, ...GET }))
  }
  const { port } = origin
  assert.deepEqual(proxy.requests, [
    `name xn--bcher-kva.test:${port}`,
    `ipv4 127.0.0.1:${port}`,
    `ipv6 0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1:${port}`,
    `name x.test.:${port}`,
  ])
})

test('an IPv6 address in brackets, from a dispatcher of the caller, is an address', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const { port } = origin
  const agent = agentFor(t, proxy, {
    factory: (url, options) => {
      const { connect } = options as { connect: (target: object, callback: unknown) => void }
      return new Client(url, {
        connect: (target, callback) => connect({ ...target, hostname: '[::1]' }, callback),
      })
    },
  })
  await readEcho(await agent.request({ origin: `http://x.test:${port}`, ...GET }))
  assert.deepEqual(proxy.requests, [`ipv6 0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1:${port}`])
})

test('socks5h: and socks: are the same as socks5:', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  for (const scheme of ['socks5h', 'socks']) {
    const agent = agentFor(t, { url: `${scheme}://127.0.0.1:${proxy.port}` })
    await readEcho(await agent.request({ origin: `http://far.test:${origin.port}`, ...GET }))
  }
  assert.deepEqual(proxy.requests, Array(2).fill(`name far.test:${origin.port}`))
})

test('the user info of the URL is decoded, and options win', async (t) => {
  const credentials = { username: 'us@er', password: 'pä:ss' }
  const proxy = await startSocksServer(t, { credentials })
  const origin = await startOrigin(t, H1, echo)
  const url = `socks5://us%40er:p%C3%A4%3Ass@127.0.0.1:${proxy.port}`
  const wrong = `socks5://a:b@127.0.0.1:${proxy.port}`
  for (const agent of [agentFor(t, { url }), agentFor(t, { url: wrong }, credentials)]) {
    await readEcho(await agent.request({ origin: origin.url, ...GET }))
  }
  assert.deepEqual(proxy.logins, Array(2).fill('us@er:pä:ss'))
})

test('a name without a password is offered with an empty one', async (t) => {
  const proxy = await startSocksServer(t, { credentials: { username: 'u', password: '' } })
  const origin = await startOrigin(t, H1, echo)
  const agent = agentFor(t, { url: `socks5://u@127.0.0.1:${proxy.port}` })
  await readEcho(await agent.request({ origin: origin.url, ...GET }))
  assert.deepEqual(proxy.logins, ['u:'])
})

test('connections that the proxy loses are opened again', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const agent = agentFor(t, proxy)
  for (let i = 0; i < 3; i++) {
    await readEcho(await agent.request({ origin: origin.url, ...GET }))
    for (const socket of proxy.open) socket.destroy()
    await eventually(() => proxy.open.size === 0)
    await turns(3)
  }
  assert.equal(proxy.requests.length, 3)
})
