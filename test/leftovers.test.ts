/** No open handle, no timer and no unhandled rejection is left by a class after its end, however it is ended. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { WebSocketServer } from 'ws'
import {
  type Dispatcher,
  EnvHttpProxyAgent,
  EventSource,
  events,
  MockAgent,
  ProxyAgent,
  RetryAgent,
  SnapshotAgent,
  Socks5ProxyAgent,
  WebSocketStream,
} from '../src/index.ts'
import { startProxy } from './proxy/support/test-proxy.ts'
import { authority } from './support/certificates.ts'
import { eventually } from './support/fake-clock.ts'
import { startSocksServer } from './support/socks-server.ts'
import { startOrigin, WIRES } from './support/wire.ts'

const [H1, H1_TLS] = WIRES as [(typeof WIRES)[number], (typeof WIRES)[number]]

const rejections: unknown[] = []
process.on('unhandledRejection', (reason) => rejections.push(reason))
after(() => assert.deepEqual(rejections, []))

/** A dispatcher, and origins it can reach: the path `/slow` is never answered. */
interface Setting {
  readonly dispatcher: Dispatcher
  readonly origins: readonly string[]
  /** The other ends of its connections. */
  readonly sockets: readonly Socket[]
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}

async function realOrigins(t: TestContext): Promise<readonly string[]> {
  const urls: string[] = []
  for (const wire of [H1, H1_TLS]) {
    const { url } = await startOrigin(t, wire, (request, response) => {
      if (request.url !== '/slow') response.end('ok')
    })
    urls.push(url)
  }
  return urls
}

const TLS = { requestTls: { ca: authority }, proxyTls: { ca: authority } }

function mocks(agent: MockAgent): Setting {
  agent.disableNetConnect()
  const pool = agent.get('http://a.test')
  pool.intercept({ path: '/' }).reply(200, 'ok').persist()
  pool.intercept({ path: '/slow' }).reply(200, 'ok').delay(60_000).persist()
  return { dispatcher: agent, origins: ['http://a.test'], sockets: [] }
}

const DISPATCHERS: Record<string, (t: TestContext) => Promise<Setting>> = {
  'ProxyAgent over HTTP/1.1': async (t) => {
    const { url: uri, sockets } = await startProxy(t, 'h1')
    return { dispatcher: new ProxyAgent({ uri, ...TLS }), origins: await realOrigins(t), sockets }
  },
  'ProxyAgent over HTTP/2': async (t) => {
    const { url: uri, sockets } = await startProxy(t, 'h2+tls')
    const dispatcher = new ProxyAgent({ uri, proxyTunnel: true, ...TLS })
    return { dispatcher, origins: await realOrigins(t), sockets }
  },
  EnvHttpProxyAgent: async (t) => {
    const { url: httpProxy, sockets } = await startProxy(t, 'h1')
    const dispatcher = new EnvHttpProxyAgent({ httpProxy, noProxy: '', ...TLS })
    return { dispatcher, origins: await realOrigins(t), sockets }
  },
  Socks5ProxyAgent: async (t) => {
    const { url, accepted } = await startSocksServer(t)
    const dispatcher = new Socks5ProxyAgent(url, { requestTls: TLS.requestTls })
    return { dispatcher, origins: await realOrigins(t), sockets: accepted }
  },
  MockAgent: async () => mocks(new MockAgent({ enableCallHistory: true })),
  'MockAgent with wires of HTTP/1.1': async () => mocks(new MockAgent({ wire: true })),
  'MockAgent with wires of HTTP/2': async () => mocks(new MockAgent({ wire: true, protocol: 'h2' })),
  MockPool: async () => {
    const agent = mocks(new MockAgent()).dispatcher as MockAgent
    return { dispatcher: agent.get('http://a.test'), origins: ['http://a.test'], sockets: [] }
  },
  MockClient: async () => {
    const agent = mocks(new MockAgent({ connections: 1 })).dispatcher as MockAgent
    return { dispatcher: agent.get('http://a.test'), origins: ['http://a.test'], sockets: [] }
  },
  SnapshotAgent: async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'leftovers-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const { url, sockets } = await startOrigin(t, H1, (request, response) => {
      if (request.url !== '/slow') response.end('ok')
    })
    const snapshotPath = join(folder, 'snapshots.json')
    return { dispatcher: new SnapshotAgent({ snapshotPath, autoFlush: true }), origins: [url], sockets }
  },
  'RetryAgent over mocks': async () => {
    const { dispatcher, ...others } = mocks(new MockAgent())
    return { ...others, dispatcher: new RetryAgent(dispatcher) }
  },
}

const ENDS: Record<string, (dispatcher: Dispatcher) => Promise<void>> = {
  'close()': (dispatcher) => dispatcher.close(),
  'destroy()': (dispatcher) => dispatcher.destroy(),
  'await using': (dispatcher) => dispatcher[Symbol.asyncDispose](),
}

for (const [name, make] of Object.entries(DISPATCHERS)) {
  describe(name, () => {
    for (const [end, finish] of Object.entries(ENDS)) {
      test(`leaves nothing after ${end}`, async (t) => {
        const { dispatcher, origins, sockets } = await make(t)
        const before = timers()
        for (const origin of origins) {
          const { body } = await dispatcher.request({ origin, path: '/', method: 'GET' })
          assert.equal(await body.text(), 'ok')
        }
        // `close()` waits for what runs, so that one is ended otherwise.
        const abort = new AbortController()
        const slow = origins.map((origin) =>
          dispatcher.request({ origin, path: '/slow', method: 'GET', signal: abort.signal }),
        )
        if (end !== 'destroy()') abort.abort()
        const results = Promise.allSettled(slow)
        await finish(dispatcher)
        assert.ok((await results).every(({ status }) => status === 'rejected'))
        await eventually(() => sockets.every(({ destroyed }) => destroyed))
        await eventually(() => timers() <= before)
      })
    }
  })
}

const EVENTS = { 'content-type': 'text/event-stream' }

describe('EventSource and events()', () => {
  for (const answer of ['stream', 'end', 'refuse'] as const) {
    test(`leave nothing, the server answers with: ${answer}`, async (t) => {
      const { url } = await startOrigin(t, H1, (_request, response) => {
        if (answer === 'refuse') {
          response.writeHead(500).end()
          return
        }
        response.writeHead(200, EVENTS).write('data: x\n\n')
        if (answer === 'end') response.end()
      })
      const before = timers()
      const source = new EventSource(url)
      await once(source, answer === 'stream' ? 'message' : 'error')
      if (answer === 'stream') (source as unknown as Disposable)[Symbol.dispose]()
      else source.close()
      assert.equal(source.readyState, EventSource.CLOSED)
      const loop = events(url, { reconnect: 'always' })
      if (answer === 'refuse') await assert.rejects(loop.next())
      else assert.equal((await loop.next()).done, false)
      if (answer === 'stream') await (loop as unknown as AsyncDisposable)[Symbol.asyncDispose]()
      else await loop.return!()
      await eventually(() => timers() <= before)
    })
  }
})

const SOCKET_ENDS: Record<string, (stream: WebSocketStream) => Promise<unknown>> = {
  'close()': (stream) => {
    stream.close({ closeCode: 1000 })
    return stream.closed
  },
  'await using': async (stream) => (stream as unknown as AsyncDisposable)[Symbol.asyncDispose](),
}

describe('WebSocketStream', () => {
  for (const [end, finish] of Object.entries(SOCKET_ENDS)) {
    test(`leaves nothing after ${end}`, async () => {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
      await once(server, 'listening')
      const before = timers()
      const { port } = server.address() as AddressInfo
      const stream = new WebSocketStream(`ws://127.0.0.1:${port}`)
      await stream.opened
      await finish(stream)
      assert.ok((await stream.closed).closeCode >= 1000)
      await eventually(() => server.clients.size === 0 && timers() <= before)
      server.close()
      await once(server, 'close')
    })
  }

  test('await using gives up one that is not open', async () => {
    const before = timers()
    const stream = new WebSocketStream('ws://127.0.0.1:9')
    await SOCKET_ENDS['await using']!(stream)
    await assert.rejects(stream.opened, { name: 'WebSocketError' })
    await eventually(() => timers() <= before)
  })
})
