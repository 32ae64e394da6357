/** A connection serves only requests that ask for the server name it was verified for, whichever came first. */
import assert from 'node:assert/strict'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net, { type AddressInfo, type LookupFunction, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  type BuildConnectorOptions,
  buildConnector,
  Client,
  type Dispatcher,
  Pool,
  ProxyAgent,
  RoundRobinPool,
} from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'

/** Every name resolves to this machine. */
const lookup: LookupFunction = (_name, options, callback) => {
  if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}

/** The certificate is for *.example.test. Answers with the server name of the connection. */
async function startServer(t: TestContext, version: 'h1' | 'h2'): Promise<number> {
  const answer = (request: { readonly socket: unknown }, response: { end(text: string): void }): void =>
    response.end(String((request.socket as { servername?: unknown }).servername))
  const server: Server =
    version === 'h1' ? https.createServer(localhost, answer) : http2.createSecureServer(localhost, answer)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

type Make = (origin: string, connect: BuildConnectorOptions) => Dispatcher

const DISPATCHERS: readonly (readonly [string, Make])[] = [
  ['Client', (origin, connect) => new Client(origin, { connect })],
  ['Client with tls', (origin, tls) => new Client(origin, { tls })],
  ['Client with a connector', (origin, options) => new Client(origin, { connect: buildConnector(options) })],
  ['Pool', (origin, connect) => new Pool(origin, { connect, connections: 1 })],
  ['RoundRobinPool', (origin, connect) => new RoundRobinPool(origin, { connect, connections: 1 })],
  ['BalancedPool', (origin, connect) => new BalancedPool(origin, { connect, connections: 1 })],
  ['Agent', (_, connect) => new Agent({ connect, connections: 1 })],
  ['Agent without a limit', (_, connect) => new Agent({ connect })],
]

/** The answer, or the code of the error. */
async function ask(dispatcher: Dispatcher, origin: string, options: object = {}): Promise<string> {
  try {
    const { body } = await dispatcher.request({ origin, path: '/', method: 'GET', ...options })
    return await body.text()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

const REFUSED = 'ERR_TLS_CERT_ALTNAME_INVALID'

for (const version of ['h1', 'h2'] as const) {
  describe(`connect.servername over ${version}`, () => {
    for (const [name, make] of DISPATCHERS) {
      for (const how of ['host header', 'servername'] as const) {
        const asking = (host: string): object =>
          how === 'servername' ? { servername: host } : { headers: { host } }

        test(`${name}: a name that fails is not met by a connection for the origin's (${how})`, async (t) => {
          const port = await startServer(t, version)
          const origin = `https://a.example.test:${port}`
          const dispatcher = make(origin, { ca: authority, lookup, servername: 'b.test' })
          t.after(() => dispatcher.destroy())
          const outcomes: string[] = []
          for (const options of [{}, asking('a.example.test'), {}, asking('a.example.test')]) {
            outcomes.push(await ask(dispatcher, origin, options))
          }
          assert.deepEqual(outcomes, [REFUSED, 'a.example.test', REFUSED, 'a.example.test'])
        })

        test(`${name}: the origin's name is not met by a connection for the other (${how})`, async (t) => {
          const port = await startServer(t, version)
          const origin = `https://b.test:${port}`
          const dispatcher = make(origin, { ca: authority, lookup, servername: 'a.example.test' })
          t.after(() => dispatcher.destroy())
          const outcomes: string[] = []
          for (const options of [{}, asking('b.test'), {}, asking('a.example.test')]) {
            outcomes.push(await ask(dispatcher, origin, options))
          }
          assert.deepEqual(outcomes, ['a.example.test', REFUSED, 'a.example.test', 'a.example.test'])
        })
      }

      test(`${name}: requests that are sent at the same time get their own names`, async (t) => {
        const port = await startServer(t, version)
        const origin = `https://a.example.test:${port}`
        const dispatcher = make(origin, { ca: authority, lookup, servername: 'b.test' })
        t.after(() => dispatcher.destroy())
        const named = { servername: 'a.example.test' }
        const outcomes = await Promise.all(
          [named, {}, named, {}].map((options) => ask(dispatcher, origin, options)),
        )
        assert.deepEqual(outcomes, ['a.example.test', REFUSED, 'a.example.test', REFUSED])
      })
    }
  })
}

/** Opens every tunnel to this machine, whatever name is asked for. */
async function startProxy(t: TestContext): Promise<string> {
  const proxy = http.createServer()
  const sockets = new Set<Duplex>()
  proxy.on('connect', (request: http.IncomingMessage, socket: Duplex) => {
    const target = net.connect(Number(new URL(`http://${request.url}`).port), '127.0.0.1')
    for (const each of [socket, target]) sockets.add(each.on('error', () => {}))
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.pipe(target).pipe(socket)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

for (const version of ['h1', 'h2'] as const) {
  test(`through a proxy a name is not met by a connection for another over ${version}`, async (t) => {
    const port = await startServer(t, version)
    const origin = `https://a.example.test:${port}`
    const dispatcher = new ProxyAgent({
      uri: await startProxy(t),
      connections: 1,
      connect: { ca: authority, servername: 'b.test' },
    })
    t.after(() => dispatcher.destroy())
    const outcomes: string[] = []
    for (const options of [{}, { servername: 'a.example.test' }, {}]) {
      outcomes.push(await ask(dispatcher, origin, options))
    }
    assert.deepEqual(outcomes, [REFUSED, 'a.example.test', REFUSED])
  })
}

test('a function of the caller that chooses a name keeps its connections apart', async (t) => {
  const port = await startServer(t, 'h1')
  const origin = `https://a.example.test:${port}`
  const connector = buildConnector({ ca: authority, lookup })
  const client = new Client(origin, {
    connect: (options, callback) =>
      void connector({ ...options, servername: options.servername ?? 'c.example.test' }, callback),
  })
  t.after(() => client.destroy())
  const outcomes: string[] = []
  for (const servername of [null, 'a.example.test', null, 'c.example.test', null]) {
    outcomes.push(await ask(client, origin, { servername }))
  }
  assert.deepEqual(outcomes, [
    'c.example.test',
    'a.example.test',
    'c.example.test',
    'c.example.test',
    'c.example.test',
  ])
})

test('a function of the caller that presents the origin is not called for each change', async (t) => {
  const port = await startServer(t, 'h1')
  const origin = `https://a.example.test:${port}`
  const connector = buildConnector({ ca: authority, lookup })
  let calls = 0
  const client = new Client(origin, {
    connect: (options, callback) => {
      calls++
      connector(options, callback)
    },
  })
  t.after(() => client.destroy())
  for (const servername of [null, 'a.example.test', null, 'a.example.test']) {
    assert.equal(await ask(client, origin, { servername }), 'a.example.test')
  }
  assert.equal(calls, 1)
})
