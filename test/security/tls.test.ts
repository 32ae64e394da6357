/** The identity of the server is checked on every connection, with exactly the given options. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import net, { type AddressInfo, type LookupFunction } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import tls, { type TLSSocket, type TlsOptions } from 'node:tls'
import {
  Agent,
  BalancedPool,
  type BuildConnectorOptions,
  buildConnector,
  Client,
  type Dispatcher,
  Pool,
  RoundRobinPool,
} from '../../src/index.ts'
import { authority, clientIdentity, localhost, other } from '../support/certificates.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'

holdTlsSessions()

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** Every name resolves to this machine. */
const lookup: LookupFunction = (_name, options, callback) => {
  if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}

interface SecureServer {
  readonly port: number
  /** For each connection that has sent something: its server name, and whether it resumed a session. */
  readonly visits: {
    readonly name: string | false
    readonly resumed: boolean
    readonly client: string | undefined
  }[]
  /** Open TCP connections. */
  readonly open: ReadonlySet<net.Socket>
}

async function startSecureServer(t: TestContext, options: TlsOptions = localhost): Promise<SecureServer> {
  const visits: SecureServer['visits'] = []
  const open = new Set<net.Socket>()
  const server = tls.createServer({ ALPNProtocols: ['http/1.1'], ...options }, (socket: TLSSocket) => {
    const name = (socket as TLSSocket & { servername: string | false }).servername
    const subject = socket.getPeerCertificate()?.subject as { CN?: string } | undefined
    visits.push({ name, resumed: socket.isSessionReused(), client: subject?.CN })
    socket.on('error', () => {}).on('data', () => socket.write(OK))
  })
  server.on('tlsClientError', () => {})
  server.on('connection', (socket: net.Socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, visits, open }
}

/** One request on a separate connection. */
async function visit(dispatcher: Dispatcher, origin: string, options: object = {}): Promise<void> {
  const { body } = await dispatcher.request({ origin, path: '/', method: 'GET', reset: true, ...options })
  await body.text()
}

function own<T extends Dispatcher>(t: TestContext, dispatcher: T): T {
  t.after(() => dispatcher.destroy())
  return dispatcher
}

const DISPATCHERS: readonly (readonly [
  string,
  (origin: string, connect: BuildConnectorOptions) => Dispatcher,
])[] = [
  ['Client', (origin, connect) => new Client(origin, { connect })],
  ['Client with tls', (origin, tls) => new Client(origin, { tls })],
  ['Pool', (origin, connect) => new Pool(origin, { connect })],
  ['RoundRobinPool', (origin, connect) => new RoundRobinPool(origin, { connect })],
  ['BalancedPool', (origin, connect) => new BalancedPool(origin, { connect })],
  ['Agent', (_, connect) => new Agent({ connect })],
  ['Agent of single connections', (_, connect) => new Agent({ connect, connections: 1 })],
]

describe('CVE-2026-9697, CVE-2026-84961: TLS options are neither dropped nor copied', () => {
  for (const [name, make] of DISPATCHERS) {
    test(`each reaches tls.connect through a ${name}`, async (t) => {
      const given = {
        ca: authority,
        cert: Buffer.from(clientIdentity.cert),
        key: clientIdentity.key,
        rejectUnauthorized: true,
        secureContext: tls.createSecureContext(),
        minVersion: 'TLSv1.3',
        ciphers: 'TLS_AES_256_GCM_SHA384',
        sigalgs: 'ecdsa_secp256r1_sha256',
        lookup,
      } as const
      const seen: Record<string, unknown>[] = []
      t.mock.method(tls, 'connect', (options: Record<string, unknown>) => {
        seen.push(options)
        throw new Error('seen')
      })
      const dispatcher = own(t, make('https://localhost:1', given as unknown as BuildConnectorOptions))
      await assert.rejects(visit(dispatcher, 'https://localhost:1'), { message: 'seen' })
      for (const [option, value] of Object.entries(given)) {
        if (option !== 'lookup') assert.equal(seen[0]?.[option], value, option)
      }
    })

    test(`a refusal of checkServerIdentity holds in a ${name}`, async (t) => {
      const server = await startSecureServer(t)
      const refusal = new Error('not this one')
      const origin = `https://localhost:${server.port}`
      const dispatcher = own(t, make(origin, { ca: authority, checkServerIdentity: () => refusal }))
      await assert.rejects(visit(dispatcher, origin), { message: 'not this one' })
    })

    test(`a wrong name and an unknown issuer are refused by a ${name}`, async (t) => {
      const server = await startSecureServer(t, other)
      const origin = `https://localhost:${server.port}`
      await assert.rejects(visit(own(t, make(origin, { ca: authority })), origin), {
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      })
      await assert.rejects(visit(own(t, make(origin, {})), origin), {
        code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      })
    })
  }
})

test('CVE-2022-32210: TLS over a connection that is there, as through a proxy, is verified too', async (t) => {
  const [honest, impostor] = [await startSecureServer(t), await startSecureServer(t, other)]
  const connector = buildConnector({ ca: authority })
  const through = (port: number): Promise<Error | null> =>
    new Promise((resolve) => {
      const httpSocket = net.connect(port, '127.0.0.1')
      httpSocket.on('error', () => {})
      t.after(() => httpSocket.destroy())
      connector(
        { hostname: 'localhost', host: 'localhost', protocol: 'https:', port, httpSocket },
        (...args) => resolve(args[0]),
      )
    })
  assert.equal(await through(honest.port), null)
  assert.equal(((await through(impostor.port)) as NodeJS.ErrnoException).code, 'ERR_TLS_CERT_ALTNAME_INVALID')
})

describe('CVE-2026-48618: Unicode dots and the depth of a wildcard', () => {
  test('names are presented and verified in their ASCII form', async (t) => {
    const server = await startSecureServer(t)
    for (const dot of ['.', '\u3002', '\uff0e', '\uff61']) {
      const one = `https://a${dot}example.test:${server.port}`
      await visit(own(t, new Client(one, { connect: { ca: authority, lookup } })), one)
      assert.equal(server.visits.at(-1)?.name, 'a.example.test')
      const two = `https://a${dot}b.example.test:${server.port}`
      const deep = own(t, new Client(two, { connect: { ca: authority, lookup } }))
      await assert.rejects(visit(deep, two), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
      const local = `https://localhost:${server.port}`
      const named = own(t, new Client(local, { connect: { ca: authority } }))
      await visit(named, local, { servername: `a${dot}example.test` })
      await assert.rejects(visit(named, local, { servername: `a${dot}b.example.test` }), {
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      })
    }
  })
})

describe('CVE-2026-48934: a TLS session is resumed for the same host, port and identity only', () => {
  const resumed = (server: SecureServer): boolean[] => server.visits.map((one) => one.resumed)

  // The cache holds sessions weakly: these tests must not depend on the garbage collector.
  const held: Buffer[] = []
  const hold = (message: unknown): void => {
    const { socket } = message as { socket: TLSSocket }
    socket.on('session', (session: Buffer) => void held.push(session))
  }
  before(() => subscribe('undici:client:connected', hold))
  after(() => unsubscribe('undici:client:connected', hold))

  test('it is, on the next connection to the same place', async (t) => {
    const server = await startSecureServer(t)
    const origin = `https://localhost:${server.port}`
    const agent = own(t, new Agent({ connect: { ca: authority } }))
    for (let i = 0; i < 3; i++) await visit(agent, origin)
    assert.deepEqual(resumed(server), [false, true, true])
  })

  test('never on another port or under another name', async (t) => {
    // The same ticket keys: these servers would resume each other's sessions.
    const ticketKeys = Buffer.alloc(48, 7)
    const [one, two] = [
      await startSecureServer(t, { ...localhost, ticketKeys }),
      await startSecureServer(t, { ...localhost, ticketKeys }),
    ]
    const agent = own(t, new Agent({ connect: { ca: authority, lookup } }))
    await visit(agent, `https://localhost:${one.port}`)
    await visit(agent, `https://localhost:${two.port}`)
    await visit(agent, `https://a.example.test:${one.port}`)
    await visit(agent, `https://127.0.0.1:${one.port}`)
    await visit(agent, `https://localhost:${one.port}`, { servername: 'b.example.test' })
    await visit(agent, `https://localhost:${one.port}`, { headers: { host: 'c.example.test' } })
    assert.deepEqual(resumed(one), [false, false, false, false, false])
    assert.deepEqual(resumed(two), [false])
    await visit(agent, `https://localhost:${one.port}`)
    assert.equal(one.visits.at(-1)?.resumed, true)
  })

  const IDENTITIES: readonly (readonly [string, BuildConnectorOptions])[] = [
    ['another ca', { ca: [authority, other.cert] }],
    ['a client certificate', { ca: authority, ...clientIdentity }],
    ['rejectUnauthorized: false', { ca: authority, rejectUnauthorized: false }],
    ['another servername', { ca: authority, servername: 'a.example.test' }],
    ['another ALPN offer', { ca: authority, allowH2: false }],
    ['other ciphers', { ca: authority, ciphers: 'TLS_AES_256_GCM_SHA384' }],
    ['another check of the name', { ca: authority, checkServerIdentity: () => undefined }],
  ]
  for (const [name, connect] of IDENTITIES) {
    test(`never with ${name}`, async (t) => {
      const server = await startSecureServer(t)
      const origin = `https://localhost:${server.port}`
      const [plain, differs] = [
        own(t, new Agent({ connect: { ca: authority } })),
        own(t, new Agent({ connect })),
      ]
      for (const agent of [plain, differs, plain, differs]) await visit(agent, origin)
      assert.deepEqual(resumed(server), [false, false, true, true])
    })
  }

  test('never for a request that must not use HTTP/2, on the session of one that may', async (t) => {
    const server = await startSecureServer(t)
    const origin = `https://localhost:${server.port}`
    const agent = own(t, new Agent({ connect: { ca: authority } }))
    await visit(agent, origin)
    await visit(agent, origin, { allowH2: false })
    await visit(agent, origin, { allowH2: false })
    assert.deepEqual(resumed(server), [false, false, true])
  })

  test('what an impostor gave to somebody who looks away is of no use to it elsewhere', async (t) => {
    const server = await startSecureServer(t, other)
    const origin = `https://localhost:${server.port}`
    const careless = own(t, new Agent({ connect: { ca: authority, rejectUnauthorized: false } }))
    await visit(careless, origin)
    const careful = own(t, new Agent({ connect: { ca: authority } }))
    await assert.rejects(visit(careful, origin), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })

  test('nor is a connection used for another server name than it was verified for', async (t) => {
    const server = await startSecureServer(t)
    const origin = `https://localhost:${server.port}`
    const client = own(t, new Client(origin, { connect: { ca: authority } }))
    const kept = { reset: false }
    await visit(client, origin, kept)
    await visit(client, origin, kept)
    await visit(client, origin, { ...kept, headers: { host: 'a.example.test' } })
    await assert.rejects(visit(client, origin, { ...kept, headers: { host: 'other.test' } }), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    assert.deepEqual(
      server.visits.map(({ name }) => name),
      ['localhost', 'a.example.test'],
    )
  })
})

test('CVE-2025-47279: certificates that fail again and again leave nothing behind', async (t) => {
  const server = await startSecureServer(t, other)
  const origin = `https://localhost:${server.port}`
  const client = own(t, new Client(origin, { connect: { ca: authority } }))
  const sockets = (): number =>
    process.getActiveResourcesInfo().filter((name) => /^(TCP|TLS)\w*Wrap$/.test(name)).length
  const closed = async (): Promise<void> => {
    for (const socket of [...server.open]) if (!socket.closed) await once(socket, 'close')
  }
  await assert.rejects(visit(client, origin))
  await closed()
  const most = sockets()
  for (let i = 0; i < 25; i++)
    await assert.rejects(visit(client, origin), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  await closed()
  assert.deepEqual({ ...client.stats }, { connected: false, pending: 0, running: 0, size: 0 })
  // Handles are closed a turn of the event loop after their sockets.
  for (let turn = 0; turn < 100 && sockets() > most; turn++) await setImmediate()
  assert.ok(sockets() <= most, `${sockets()} sockets, ${most} before`)
  for (const event of ['connect', 'disconnect', 'connectionError', 'drain', 'error']) {
    assert.equal(client.listenerCount(event), 0, event)
  }
})
