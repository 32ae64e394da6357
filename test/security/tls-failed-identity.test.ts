/**
 * A session whose server has failed the check of its identity is never resumed: a resumed handshake checks nothing, so that
 * the server would count as verified.
 */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { after, describe, type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import {
  Agent,
  type BuildConnectorOptions,
  Client,
  type Dispatcher,
  Pool,
  ProxyAgent,
} from '../../src/index.ts'
import { authority, localhost, other } from '../support/certificates.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'

holdTlsSessions()

type TlsVersion = 'TLSv1.2' | 'TLSv1.3'

interface TestServer {
  readonly url: string
  /** For each handshake that came to its end: whether a session was resumed. */
  readonly resumed: boolean[]
}

async function listen(t: TestContext, server: Server): Promise<number> {
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

/** Closes each connection after one response. */
async function startServer(
  t: TestContext,
  version: 'h1' | 'h2',
  options: https.ServerOptions,
): Promise<TestServer> {
  const resumed: boolean[] = []
  const server: Server =
    version === 'h1'
      ? https.createServer(options, (_request, response) => {
          response.shouldKeepAlive = false
          response.end('ok')
        })
      : http2.createSecureServer(options, (request, response) => {
          response.end('ok', () => request.stream.session?.close())
        })
  server.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()))
  return { url: `https://localhost:${await listen(t, server)}`, resumed }
}

/** Opens tunnels; with a certificate, over TLS. */
async function startProxy(t: TestContext, options: https.ServerOptions | null): Promise<TestServer> {
  const resumed: boolean[] = []
  const proxy = options === null ? http.createServer() : https.createServer(options)
  proxy.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()))
  proxy.on('connect', (request: http.IncomingMessage, socket: Duplex) => {
    const target = net.connect(Number(new URL(`http://${request.url}`).port), '127.0.0.1')
    for (const each of [socket, target]) each.on('error', () => {}).on('close', () => target.destroy())
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.pipe(target).pipe(socket)
  })
  return { url: `${options === null ? 'http' : 'https'}://localhost:${await listen(t, proxy)}`, resumed }
}

/** The answer, or the message of the error. */
async function ask(dispatcher: Dispatcher, origin: string): Promise<string> {
  try {
    const { body } = await dispatcher.request({ origin, path: '/', method: 'GET', reset: true })
    return await body.text()
  } catch (error) {
    return (error as Error).message
  }
}

const DISPATCHERS: readonly (readonly [
  string,
  (t: TestContext, origin: string, connect: BuildConnectorOptions) => Promise<Dispatcher>,
])[] = [
  ['Client', async (_, origin, connect) => new Client(origin, { connect })],
  ['Pool', async (_, origin, connect) => new Pool(origin, { connect })],
  ['Agent', async (_t, _, connect) => new Agent({ connect })],
  [
    'ProxyAgent',
    async (t, _, requestTls) => new ProxyAgent({ uri: (await startProxy(t, null)).url, requestTls }),
  ],
]

/** The runtime reads it with each connection, unless `rejectUnauthorized` is given. */
function lookAway(isLookingAway: boolean): void {
  if (isLookingAway) process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  else delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
}

const pinned: BuildConnectorOptions = {
  ca: authority,
  checkServerIdentity: () => new Error('not the pinned key'),
}

describe('a failed check of the identity', () => {
  const given = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  after(() => {
    if (given === undefined) lookAway(false)
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = given
  })

  for (const version of ['h1', 'h2'] as const) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as TlsVersion[]) {
      for (const [name, make] of DISPATCHERS) {
        const title = `${name} over ${version}, ${maxVersion}`

        for (const [what, options, certificate, message] of [
          ['a pin', pinned, localhost, 'not the pinned key'],
          ['the name', { ca: authority }, other, "Hostname/IP does not match certificate's altnames"],
        ] as const) {
          test(`${title}: ${what} fails again once it counts`, async (t) => {
            t.after(() => lookAway(false))
            const server = await startServer(t, version, { ...certificate, maxVersion })
            const dispatcher = await make(t, server.url, options)
            t.after(() => dispatcher.destroy())
            lookAway(true)
            for (let i = 0; i < 2; i++) assert.equal(await ask(dispatcher, server.url), 'ok')
            lookAway(false)
            assert.ok((await ask(dispatcher, server.url)).startsWith(message))
            assert.deepEqual(server.resumed.slice(0, 2), [false, false])
          })
        }

        test(`${title}: the sessions of a server that passes are resumed`, async (t) => {
          const server = await startServer(t, version, { ...localhost, maxVersion })
          const dispatcher = await make(t, server.url, {
            ca: authority,
            checkServerIdentity: () => undefined,
            rejectUnauthorized: false,
          })
          t.after(() => dispatcher.destroy())
          for (let i = 0; i < 3; i++) assert.equal(await ask(dispatcher, server.url), 'ok')
          assert.deepEqual(server.resumed, [false, true, true])
        })
      }
    }
  }

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as TlsVersion[]) {
    test(`a proxy's pin fails again once it counts, ${maxVersion}`, async (t) => {
      t.after(() => lookAway(false))
      const server = await startServer(t, 'h1', localhost)
      const proxy = await startProxy(t, { ...localhost, maxVersion })
      const dispatcher = new ProxyAgent({
        uri: proxy.url,
        proxyTls: pinned,
        requestTls: { ca: authority },
      })
      t.after(() => dispatcher.destroy())
      lookAway(true)
      for (let i = 0; i < 2; i++) assert.equal(await ask(dispatcher, server.url), 'ok')
      lookAway(false)
      assert.equal(await ask(dispatcher, server.url), 'Secure Proxy Connection failed')
      assert.ok(!proxy.resumed.includes(true))
    })

    test(`authorized stays false with rejectUnauthorized: false, ${maxVersion}`, async (t) => {
      const server = await startServer(t, 'h1', { ...localhost, maxVersion })
      const client = new Client(server.url, { connect: { ...pinned, rejectUnauthorized: false } })
      t.after(() => client.destroy())
      const authorized: boolean[] = []
      const onConnected = (message: unknown): void => {
        authorized.push((message as { socket: TLSSocket }).socket.authorized)
      }
      subscribe('undici:client:connected', onConnected)
      t.after(() => unsubscribe('undici:client:connected', onConnected))
      for (let i = 0; i < 3; i++) assert.equal(await ask(client, server.url), 'ok')
      assert.deepEqual(authorized, [false, false, false])
    })
  }
})
