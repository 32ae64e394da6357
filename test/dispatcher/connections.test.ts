/** `connections()` of dispatchers around others, of what leaves the list, and of sockets that misbehave. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { connectionsOf } from '../../src/dispatcher/connection-snapshot.ts'
import {
  Agent,
  BalancedPool,
  Client,
  type ConnectionSnapshot,
  Dispatcher,
  Dispatcher1Wrapper,
  type errors,
  H2CClient,
  MockAgent,
  Pool,
  RetryAgent,
  RoundRobinPool,
} from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { eventually } from '../support/fake-clock.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { OK, response, send, startPair } from '../support/scripted-client.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'

holdTlsSessions()

type Listing = Dispatcher & { connections(): ConnectionSnapshot[] }

const AROUND: Record<string, (url: string) => Listing> = {
  Client: (url) => new Client(url),
  Pool: (url) => new Pool(url),
  RoundRobinPool: (url) => new RoundRobinPool(url),
  BalancedPool: (url) => new BalancedPool(url),
  'Pool with a factory': (url) =>
    new Pool(url, { factory: (origin, options) => new Client(origin, options) }),
  'Pool of pools': (url) => new Pool(url, { factory: (origin, options) => new Pool(origin, options) }),
  Agent: () => new Agent(),
  RetryAgent: () => new RetryAgent(new Agent()),
  MockAgent: () => new MockAgent(),
  'a composed view': (url) =>
    new Client(url).compose((dispatch) => (opts, handler) => dispatch(opts, handler)),
  'a view of a view': (url) =>
    new Pool(url)
      .compose((dispatch) => (opts, handler) => dispatch(opts, handler))
      .compose((dispatch) => (opts, handler) => dispatch(opts, handler)),
  Dispatcher1Wrapper: (url) => new Dispatcher1Wrapper(new Client(url)),
}

describe('connections() of', () => {
  for (const [name, make] of Object.entries(AROUND)) {
    test(name, async (t) => {
      const server = await startScriptedServer(t)
      const dispatcher = make(server.url)
      t.after(() => dispatcher.destroy())
      assert.deepEqual(dispatcher.connections(), [])
      const handler = send(dispatcher, { origin: server.url })
      const peer = await server.accept()
      await peer.head()
      const [row, ...others] = dispatcher.connections() as [ConnectionSnapshot]
      assert.deepEqual(others, [])
      assert.deepEqual([row.state, row.running, row.remotePort], ['active', 1, server.port])
      peer.send(OK)
      await handler.settled
      await eventually(() => dispatcher.connections()[0]?.idleTime !== null)
      assert.equal(dispatcher.connections()[0]!.requests, 1)
      await dispatcher.destroy()
      assert.deepEqual(dispatcher.connections(), [])
    })
  }

  test('a dispatcher of a caller: none', () => {
    class Mine extends Dispatcher {}
    assert.deepEqual(new Mine().connections(), [])
    assert.deepEqual(new Dispatcher1Wrapper({ dispatch: () => true }).connections(), [])
    const broken = {
      connections: () => {
        throw new Error('mine')
      },
    }
    for (const other of [broken, { connections: 7 }, { connections: () => 'none' }, {}]) {
      assert.deepEqual(connectionsOf(other), [])
    }
  })

  test('the pool of a mock agent: those to its origin', async (t) => {
    const [one, two] = [await startScriptedServer(t), await startScriptedServer(t)]
    const agent = new MockAgent()
    t.after(() => agent.destroy())
    const pool = agent.get(one.url)
    for (const server of [one, two]) {
      const handler = send(agent, { origin: server.url })
      const peer = await server.accept()
      await peer.head()
      peer.send(OK)
      await handler.settled
    }
    assert.equal(agent.connections().length, 2)
    assert.deepEqual(
      pool.connections().map(({ origin }) => origin),
      [new URL(one.url).origin],
    )
  })

  test('a mock agent with connections in memory', async (t) => {
    const agent = new MockAgent({ wire: true })
    t.after(() => agent.destroy())
    agent.get('http://api.test').intercept({ path: '/' }).reply(200, 'ok')
    const { body } = await agent.request({ origin: 'http://api.test', path: '/', method: 'GET' })
    const [row] = agent.connections() as [ConnectionSnapshot]
    assert.deepEqual([row.origin, row.requests, row.certificateValidTo], ['http://api.test', 1, null])
    await body.text()
  })
})

describe('a connection leaves the list', () => {
  test('when its socket goes to the caller of an upgrade or a CONNECT', async (t) => {
    const { server, client } = await startPair(t)
    for (const [kind, head] of [
      ['upgrade', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
      ['connect', 'HTTP/1.1 200 OK\r\n\r\n'],
    ] as const) {
      const opened =
        kind === 'upgrade'
          ? client.upgrade({ path: '/', protocol: 'x' })
          : client.connect({ path: 'target.test:1' })
      const peer = await server.accept()
      await peer.head()
      assert.equal(client.connections().length, 1)
      peer.send(head)
      const { socket } = await opened
      assert.deepEqual(client.connections(), [])
      socket.destroy()
    }
  })

  test('when the server has closed it, and the next one says so', async (t) => {
    const { server, client } = await startPair(t)
    const first = send(client)
    const peer = await server.accept()
    await peer.head()
    peer.send(response('ok'))
    await first.settled
    peer.end()
    await eventually(() => client.connections().length === 0)
    const second = send(client)
    const next = await server.accept()
    await next.head()
    const [row] = client.connections() as [ConnectionSnapshot]
    assert.deepEqual([row.lastEndCode, row.lastEndMessage], ['UND_ERR_SOCKET', 'other side closed'])
    next.send(OK)
    await second.settled
  })

  test('but lingers over HTTP/2 while a response has not been read', async (t) => {
    const length = 200_000
    const origin = await startOrigin(t, WIRES[3]!, (_request, reply) => reply.end('x'.repeat(length)))
    const client = new H2CClient(origin.url)
    t.after(() => client.destroy())
    const { body } = await client.request({ path: '/', method: 'GET' })
    await eventually(() => client.connections()[0]!.bytesRead! > length)
    for (const socket of origin.sockets) socket.destroy()
    await eventually(() => client.connections()[0]?.state === 'lingering')
    const [row] = client.connections() as [ConnectionSnapshot]
    assert.deepEqual([row.running, client.stats.running, client.stats.connected], [1, 1, false])
    assert.equal((await body.text()).length, length)
    await eventually(() => client.connections().length === 0)
  })

  test('but not an HTTP/2 connection of which a stream has become a tunnel', async (t) => {
    const origin = await startOrigin(t, WIRES[3]!, () => {})
    origin.server.on('connect', (_request, reply) => {
      const { stream } = reply as unknown as { stream: import('node:http2').ServerHttp2Stream }
      stream.respond({ ':status': 200 })
    })
    const client = new H2CClient(origin.url)
    t.after(() => client.destroy())
    const { socket } = await client.connect({ path: 'target.test:1' })
    const [row] = client.connections() as [ConnectionSnapshot]
    assert.deepEqual([row.state, row.running, row.streams], ['active', 1, 1])
    socket.destroy()
    await eventually(() => client.connections()[0]?.state === 'idle')
  })
})

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`the certificate of a resumed ${maxVersion} session is that of the first one`, async (t) => {
    const server = https.createServer({ ...localhost, maxVersion }, (_request, reply) => reply.end('ok'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const client = new Client(`https://localhost:${port}`, { connect: { ca: authority } })
    t.after(async () => {
      await client.destroy()
      server.close()
    })
    const resumed: boolean[] = []
    server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()))
    const validTo = new Date(new X509Certificate(localhost.cert).validTo).toISOString()
    for (let i = 0; i < 3; i++) {
      const { body } = await client.request({ path: '/', method: 'GET' })
      await body.text()
      assert.equal(client.connections()[0]!.certificateValidTo, validTo)
      client.retire()
      await eventually(() => client.connections().length === 0)
    }
    assert.deepEqual(resumed, [false, true, true])
  })
}

test('a connection that could not be opened shows in the next attempt, and an error of a caller without its text', async (t) => {
  const server = await startScriptedServer(t)
  const mistakes = [
    Object.assign(new Error('token=secret'), { code: 'MINE' }),
    // biome-ignore lint/suspicious/noExplicitAny: what a caller may do
    null as any,
  ]
  const client = new Client(server.url, {
    connect: (_options, callback) => {
      const mistake = mistakes.shift()
      if (mistake) {
        callback(mistake)
        return
      }
      const socket = net.connect(server.port, '127.0.0.1', () => callback(null, socket))
    },
  })
  t.after(() => client.destroy())
  await send(client).settled
  assert.deepEqual(client.connections(), [])
  const handler = send(client)
  const [row] = client.connections() as [ConnectionSnapshot]
  assert.deepEqual([row.state, row.lastEndCode, row.lastEndMessage], ['connecting', 'MINE', null])
  const peer = await server.accept()
  await peer.head()
  peer.send(OK)
  await handler.settled
})

test('a function of a caller that a connector of ours calls may fail with a secret', async (t) => {
  const errors = [
    Object.assign(new Error('token=secret'), { code: 'MINE' }),
    Object.assign(new Error('getaddrinfo ENOTFOUND a.test'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }),
  ]
  const client = new Client('http://a.test', {
    connect: {
      lookup: (_host, _options, callback) => {
        const error = errors.shift() ?? null
        if (error !== null) setImmediate(() => callback(error, ''))
      },
    },
  })
  t.after(() => client.destroy())
  const seen: unknown[] = []
  for (let i = 0; i < 3; i++) {
    const handler = send(client)
    const [row] = client.connections() as [ConnectionSnapshot]
    seen.push([row.lastEndCode, row.lastEndMessage])
    if (i < 2) await handler.settled
  }
  assert.deepEqual(seen, [
    [null, null],
    ['MINE', null],
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND a.test'],
  ])
})

test('a socket whose getters throw is listed without what they would say', async (t) => {
  const server = await startScriptedServer(t)
  const sockets: net.Socket[] = []
  const client = new Client(server.url, {
    connect: (_options, callback) => {
      const socket = net.connect(server.port, '127.0.0.1', () => callback(null, socket))
      sockets.push(socket)
    },
  })
  t.after(() => client.destroy())
  const handler = send(client)
  const peer = await server.accept()
  await peer.head()
  for (const name of ['bytesRead', 'bytesWritten', 'encrypted', 'getPeerCertificate']) {
    Object.defineProperty(sockets[0]!, name, {
      get: () => {
        throw new Error(`no ${name}`)
      },
    })
  }
  const [row] = client.connections() as [ConnectionSnapshot]
  assert.deepEqual([row.state, row.bytesRead, row.bytesWritten, row.tls], ['active', null, null, false])
  peer.send(OK)
  await handler.settled
})

test('what a socket says of itself is listed only if it is of the kind that it should be', async (t) => {
  const client = new Client('http://a.test', {
    connect: (_options, callback) => {
      const facts = { remoteAddress: 10n, localAddress: {}, remotePort: '1', localPort: 2, bytesRead: 0n }
      callback(null, Object.assign(new MemorySocket(), facts) as never)
    },
  })
  t.after(() => client.destroy())
  send(client)
  const [row] = JSON.parse(JSON.stringify(client.connections())) as [ConnectionSnapshot]
  const { remoteAddress, localAddress, remotePort, localPort, bytesRead, bytesWritten } = row
  assert.deepEqual([remoteAddress, localAddress, remotePort, localPort], [null, null, null, 2])
  assert.deepEqual([bytesRead, bytesWritten], [null, null])
})

test('an error does not ask a socket whose getters throw', async (t) => {
  const server = await startScriptedServer(t)
  const client = new Client(server.url, {
    connect: (_options, callback) => {
      const socket = net.connect(server.port, '127.0.0.1', () => callback(null, socket))
      Object.defineProperty(socket, 'bytesRead', {
        get: () => {
          throw new Error('mine')
        },
      })
    },
  })
  t.after(() => client.destroy())
  const handler = send(client, { method: 'POST' })
  const peer = await server.accept()
  await peer.head()
  peer.end()
  await handler.settled
  const { message, socket } = handler.error as InstanceType<typeof errors.SocketError>
  assert.equal(message, 'other side closed')
  assert.equal(socket?.remotePort, server.port)
})

test('a snapshot stays as it was, and may be changed', async (t) => {
  const { server, client } = await startPair(t)
  const handler = send(client)
  const peer = await server.accept()
  await peer.head()
  const rows = client.connections()
  const before = JSON.stringify(rows)
  peer.send(OK)
  await handler.settled
  assert.equal(JSON.stringify(rows), before)
  rows[0]!.origin = 'mine'
  rows.length = 0
  assert.equal(client.connections()[0]!.origin, new URL(server.url).origin)
})

test('a fault of one dispatcher does not keep the connections of the others', async (t) => {
  const server = await startScriptedServer(t)
  const agent = new Agent({
    factory: (origin, options) => {
      const pool = new Pool(origin, options)
      if (String(origin).includes('localhost')) {
        pool.connections = () => {
          throw new Error('mine')
        }
      }
      return pool
    },
  })
  t.after(() => agent.destroy())
  for (const origin of [`http://localhost:${server.port}`, `http://127.0.0.1:${server.port}`]) {
    const handler = send(agent, { origin })
    const peer = await server.accept()
    await peer.head()
    peer.send(OK)
    await handler.settled
  }
  assert.deepEqual(
    agent.connections().map(({ origin }) => origin),
    [`http://127.0.0.1:${server.port}`],
  )
})
