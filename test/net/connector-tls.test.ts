import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo, LookupFunction, Socket } from 'node:net'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { TLSSocket, TlsOptions } from 'node:tls'
import tls from 'node:tls'
import { InvalidArgumentError } from '../../src/errors.ts'
import type { BuildConnectorOptions, Connector, ConnectorOptions } from '../../src/net/connector.ts'
import { buildConnector } from '../../src/net/connector.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'

holdTlsSessions()

const pem = (name: string): Buffer => readFileSync(new URL(`../support/certs/${name}.pem`, import.meta.url))
const ca = pem('ca')
const local = { key: pem('localhost-key'), cert: pem('localhost') }
const other = { key: pem('other-key'), cert: pem('other') }

const to127: LookupFunction = (_hostname, options, callback) => {
  if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}

interface Server {
  readonly port: number
  /** The server name that each client sent, false for none. */
  readonly names: Array<string | false>
}

async function listening(t: TestContext, options: TlsOptions = local, path?: string): Promise<Server> {
  const names: Array<string | false> = []
  const server = tls.createServer({ ALPNProtocols: ['h2', 'http/1.1'], ...options }, (socket) => {
    names.push((socket as TLSSocket & { servername: string | false }).servername)
    // A first byte makes sure that the session tickets before it have been read.
    socket
      .on('error', () => {})
      .resume()
      .write('x')
  })
  server.on('tlsClientError', () => {})
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  if (path === undefined) server.listen(0, '127.0.0.1')
  else server.listen(path)
  await once(server, 'listening')
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const address = server.address()
  return { port: typeof address === 'string' ? 0 : (address as AddressInfo).port, names }
}

const https = (port: number, hostname = 'localhost'): ConnectorOptions => ({
  hostname,
  host: net.isIPv6(hostname) ? `[${hostname}]:${port}` : `${hostname}:${port}`,
  protocol: 'https:',
  port: String(port),
  servername: null,
  localAddress: null,
})

const build = (options: BuildConnectorOptions = {}): Connector =>
  buildConnector({ ca, lookup: to127, ...options })

function attempt(connector: Connector, options: ConnectorOptions): Promise<[Error | null, Socket | null]> {
  return new Promise((resolve) => {
    connector(options, (error, socket) => resolve([error, socket]))
  })
}

async function connected(
  t: TestContext,
  connector: Connector,
  options: ConnectorOptions,
): Promise<TLSSocket> {
  const [error, socket] = await attempt(connector, options)
  assert.equal(error, null)
  t.after(() => void socket?.destroy())
  // With TLS 1.3 the client is ready before the server is.
  await once(socket!, 'data')
  return socket as TLSSocket
}

/** Connects, waits for the first byte, closes; returns whether a session was resumed. */
async function resumes(connector: Connector, options: ConnectorOptions): Promise<boolean> {
  const [error, socket] = await attempt(connector, options)
  assert.equal(error, null)
  const reused = (socket as TLSSocket).isSessionReused()
  await once(socket!, 'data')
  socket!.destroy()
  await once(socket!, 'close')
  return reused
}

async function failure(connector: Connector, options: ConnectorOptions): Promise<NodeJS.ErrnoException> {
  const [error, socket] = await attempt(connector, options)
  assert.ok(error)
  assert.equal(socket, undefined)
  return error
}

function spyOnConnect(t: TestContext): Array<Record<string, unknown>> {
  const seen: Array<Record<string, unknown>> = []
  const original = tls.connect
  t.mock.method(tls, 'connect', (options: tls.ConnectionOptions) => {
    seen.push(options as Record<string, unknown>)
    return original(options)
  })
  return seen
}

test('the returned socket emits connect and secureConnect and is the one of the callback', async (t) => {
  const { port } = await listening(t)
  const events: string[] = []
  await new Promise<void>((resolve) => {
    const returned: Socket = build()(https(port), (error, socket) => {
      assert.equal(error, null)
      assert.equal(socket, returned)
      events.push('callback')
      resolve()
    })
    returned.on('connect', () => events.push('connect'))
    returned.prependListener('secureConnect', () => events.push('secureConnect'))
    t.after(() => void returned.destroy())
  })
  assert.deepEqual(events, ['connect', 'secureConnect', 'callback'])
})

test('defaults of a TLS socket', async (t) => {
  const { port } = await listening(t)
  const seen = spyOnConnect(t)
  await connected(t, build(), https(port, '127.0.0.1'))
  assert.equal(seen.length, 1)
  assert.equal(seen[0]!['highWaterMark'], 16_384)
  assert.deepEqual(seen[0]!['ALPNProtocols'], ['http/1.1', 'h2'])
  assert.equal(seen[0]!['session'], null)
  assert.equal(seen[0]!['servername'], null)
})

test('the default port is 443', (t) => {
  let port: unknown
  t.mock.method(tls, 'connect', (options: tls.ConnectionOptions) => {
    port = options.port
    return new tls.TLSSocket(new net.Socket())
  })
  buildConnector()({ hostname: '127.0.0.1', protocol: 'https:', port: '' }, () => {}).destroy()
  assert.equal(port, 443)
})

test('TLS options are passed on (CVE-2026-9697, CVE-2026-84961)', async (t) => {
  const { port } = await listening(t)
  const seen = spyOnConnect(t)
  const options = {
    minVersion: 'TLSv1.2' as const,
    ciphers: tls.DEFAULT_CIPHERS,
    rejectUnauthorized: true,
    highWaterMark: 9,
  }
  await connected(t, build(options), https(port))
  for (const [name, value] of Object.entries({ ...options, ca })) assert.equal(seen[0]![name], value, name)
})

for (const [options, offer, chosen] of [
  [{}, ['http/1.1', 'h2'], 'h2'],
  [{ allowH2: null }, ['http/1.1', 'h2'], 'h2'],
  [{ allowH2: false, preferH2: true }, ['http/1.1'], 'http/1.1'],
  [{ preferH2: true }, ['h2', 'http/1.1'], 'h2'],
  [{ ALPNProtocols: ['x'] }, ['http/1.1', 'h2'], 'h2'],
  [{ useH2c: true, allowH2: false }, ['http/1.1'], 'http/1.1'],
] as const) {
  test(`ALPN with ${JSON.stringify(options)}`, async (t) => {
    const { port } = await listening(t)
    const seen = spyOnConnect(t)
    const socket = await connected(t, build(options as BuildConnectorOptions), https(port))
    assert.deepEqual(seen[0]!['ALPNProtocols'], offer)
    assert.equal(socket.alpnProtocol, chosen)
  })
}

test('the server name: of the call, of the connector, of the host, none for an IP', async (t) => {
  const { port, names } = await listening(t)
  const named = build({ servername: 'b.example.test' })
  await connected(t, named, { ...https(port), servername: 'a.example.test' })
  await connected(t, named, https(port))
  await connected(t, build(), https(port))
  await connected(t, build(), https(port, '127.0.0.1'))
  assert.deepEqual(names, ['a.example.test', 'b.example.test', 'localhost', false])
})

test('without a host the server name comes from the hostname', async (t) => {
  const { port, names } = await listening(t)
  await connected(t, build(), { hostname: 'localhost', protocol: 'https:', port })
  assert.deepEqual(names, ['localhost'])
})

test('a server name with Unicode dots is presented and verified in its ASCII form', async (t) => {
  const { port, names } = await listening(t)
  await connected(t, build(), { ...https(port), servername: 'a\u3002example.test' })
  assert.deepEqual(names, ['a.example.test'])
})

test('a server name with control characters is refused', async () => {
  const error = await failure(build(), { ...https(1), host: 'a\0.test' })
  assert.ok(error instanceof InvalidArgumentError)
})

test('TLS errors come unchanged', async (t) => {
  const { port } = await listening(t)
  const untrusted = await failure(buildConnector({ lookup: to127 }), https(port))
  assert.equal(untrusted.code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
  const wrongName = await failure(build(), https(port, 'wrong.test'))
  assert.equal(wrongName.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
})

test('a bad TLS option comes through the callback', async () => {
  const error = await failure(build({ cert: 'nonsense', key: 'nonsense' }), https(1))
  assert.match(String(error.code), /^ERR_OSSL/)
})

test('https works over an IPC endpoint and verifies the host of the URL', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'connector-'))
  t.after(() => rm(folder, { recursive: true }))
  const socketPath = join(folder, 's')
  const { names } = await listening(t, local, socketPath)
  await connected(t, build({ socketPath }), https(443))
  assert.deepEqual(names, ['localhost'])
  const error = await failure(build({ socketPath }), https(443, 'wrong.test'))
  assert.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
})

test('the next address is tried when the first one refuses, TLS included', async (t) => {
  const { port } = await listening(t)
  const lookup: LookupFunction = (_hostname, _options, callback) =>
    callback(null, [
      { address: '127.0.0.2', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ])
  for (const autoSelectFamily of [undefined, true]) {
    const connector = build({ lookup, autoSelectFamily })
    assert.equal(await resumes(connector, https(port)), false)
    // The dead address must not cost the session.
    assert.equal(await resumes(connector, https(port)), true)
  }
})

test('a certificate that fails is not tried on the next address', async (t) => {
  const { port } = await listening(t, other)
  const seen = spyOnConnect(t)
  const lookup: LookupFunction = (_hostname, _options, callback) =>
    callback(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ])
  const error = await failure(build({ lookup }), https(port))
  assert.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
  assert.equal(seen.length, 1)
})

test('TLS is layered on httpSocket', async (t) => {
  const { port, names } = await listening(t)
  const httpSocket = net.connect(port, '127.0.0.1')
  await once(httpSocket, 'connect')
  const socket = await connected(t, build(), { ...https(1), httpSocket })
  assert.deepEqual(names, ['localhost'])
  assert.equal(socket.remotePort, port)
})

test('a failure on httpSocket closes it', async (t) => {
  const { port } = await listening(t, other)
  const httpSocket = net.connect(port, '127.0.0.1')
  await once(httpSocket, 'connect')
  const closed = once(httpSocket, 'close')
  const error = await failure(build(), { ...https(1), httpSocket })
  assert.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
  await closed
})

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`sessions are resumed over ${maxVersion}`, async (t) => {
    const { port } = await listening(t, { ...local, maxVersion })
    const connector = build()
    assert.equal(await resumes(connector, https(port)), false)
    assert.equal(await resumes(connector, https(port)), true)
    assert.equal(await resumes(build(), https(port)), false, 'another connector has no part in it')
  })

  test(`a session of a server that failed the check is never kept over ${maxVersion}`, async (t) => {
    const { port } = await listening(t, { ...other, maxVersion })
    const seen = spyOnConnect(t)
    const connector = build()
    for (let i = 0; i < 2; i++) {
      assert.equal((await failure(connector, https(port))).code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    }
    assert.equal(seen[1]!['session'], null)
  })

  test(`with rejectUnauthorized false a wrong name stays visible over ${maxVersion}`, async (t) => {
    const { port } = await listening(t, { ...other, maxVersion })
    const connector = build({ rejectUnauthorized: false })
    assert.equal(await resumes(connector, https(port)), false)
    assert.equal(await resumes(connector, https(port)), false)
  })
}

test('an untrusted issuer does not hinder resumption with rejectUnauthorized false', async (t) => {
  const { port } = await listening(t)
  const connector = buildConnector({ lookup: to127, rejectUnauthorized: false })
  assert.equal(await resumes(connector, https(port)), false)
  const socket = await connected(t, connector, https(port))
  assert.equal(socket.isSessionReused(), true)
  assert.equal(socket.authorized, false)
})

test('a session is never resumed for another host or port (CVE-2026-48934)', async (t) => {
  const ticketKeys = Buffer.alloc(48, 1)
  const first = await listening(t, { ...local, ticketKeys })
  const second = await listening(t, { ...local, ticketKeys })
  const connector = build()
  assert.equal(await resumes(connector, https(first.port)), false)
  // Immediately: sessions are held weakly, and a later garbage collection would not be a bug.
  assert.equal(await resumes(connector, https(first.port)), true)
  assert.equal(await resumes(connector, https(second.port)), false)
  assert.equal(await resumes(connector, https(first.port, 'a.example.test')), false)
  assert.equal(
    await resumes(connector, { ...https(first.port, 'b.example.test'), servername: 'a.example.test' }),
    false,
  )
})

test('maxCachedSessions 0 makes every handshake a full one', async (t) => {
  const { port } = await listening(t)
  const connector = build({ maxCachedSessions: 0 })
  assert.equal(await resumes(connector, https(port)), false)
  assert.equal(await resumes(connector, https(port)), false)
})

test('with maxCachedSessions 1 two host names evict each other', async (t) => {
  const { port } = await listening(t)
  const connector = build({ maxCachedSessions: 1 })
  const names = ['localhost', 'a.example.test', 'localhost', 'a.example.test']
  for (const name of names) assert.equal(await resumes(connector, https(port, name)), false)
  assert.equal(await resumes(connector, https(port, 'a.example.test')), true)
})

test('a fixed session is used instead of the cache', async (t) => {
  const { port } = await listening(t, { ...local, maxVersion: 'TLSv1.2' })
  const first = await connected(t, build(), https(port))
  const session = first.getSession()!
  const seen = spyOnConnect(t)
  const connector = build({ session })
  for (let i = 0; i < 2; i++) assert.equal(await resumes(connector, https(port)), true)
  assert.ok(seen.every((options) => options['session'] === session))
})

test('a session is forgotten when a handshake with it fails', async (t) => {
  const { port } = await listening(t)
  const connector = build()
  await resumes(connector, https(port))
  const seen = spyOnConnect(t)
  const broken = net.createServer((socket) => void socket.on('error', () => {}).end('not TLS'))
  broken.listen(0, '127.0.0.1')
  await once(broken, 'listening')
  t.after(() => void broken.close())
  const httpSocket = net.connect((broken.address() as AddressInfo).port, '127.0.0.1')
  await once(httpSocket, 'connect')
  await failure(connector, { ...https(port), httpSocket })
  assert.ok(seen[0]!['session'])
  assert.equal(await resumes(connector, https(port)), false)
})

test('repeated bad certificates leave nothing behind (CVE-2025-47279)', async (t) => {
  const { port } = await listening(t, other)
  const started = t.mock.method(globalThis, 'setTimeout')
  const stopped = t.mock.method(globalThis, 'clearTimeout')
  const seen = spyOnConnect(t)
  const connector = build({ timeout: 60_007 })
  for (let i = 0; i < 5; i++) {
    await new Promise<void>((resolve) => {
      let failed = false
      const socket: Socket = connector(https(port), (error, _socket) => {
        failed = error !== null
      })
      socket.once('close', () => {
        assert.equal(failed, true)
        assert.equal(socket.destroyed, true)
        resolve()
      })
    })
  }
  assert.ok(seen.every((options) => options['session'] === null))
  const timers = started.mock.calls.filter((call) => call.arguments[1] === 60_007).map((call) => call.result)
  const cleared = new Set(stopped.mock.calls.map((call) => call.arguments[0]))
  assert.equal(timers.length, 5)
  assert.ok(timers.every((timer) => cleared.has(timer)))
})

/** TLS sockets that do nothing until the test triggers them, and the options they were opened with. */
function scriptedConnect(t: TestContext): Array<{ socket: Socket; session: unknown }> {
  const opened: Array<{ socket: Socket; session: unknown }> = []
  t.mock.method(tls, 'connect', (options: tls.ConnectionOptions) => {
    const socket = new net.Socket()
    opened.push({ socket, session: options.session })
    return socket
  })
  return opened
}

test('a session that comes before the server is verified is not used until it is', (t) => {
  const opened = scriptedConnect(t)
  const connector = build({ timeout: 0 })
  const open = (): Socket => {
    connector(https(1, '127.0.0.1'), () => {})
    return opened.at(-1)!.socket
  }
  const session = Buffer.from('session')
  const impostor = open()
  impostor.emit('session', session)
  const unverified = open()
  unverified.emit('session', session)
  open()
  assert.equal(opened.at(-1)!.session, null)
  impostor.emit('error', new Error('wrong name'))
  open()
  assert.equal(opened.at(-1)!.session, null)
  unverified.emit('secureConnect')
  open()
  assert.equal(opened.at(-1)!.session, session)
})

test('an error after the handshake does not cost the session', (t) => {
  const opened = scriptedConnect(t)
  const connector = build({ timeout: 0 })
  const session = Buffer.from('session')
  connector(https(1, '127.0.0.1'), () => {})
  opened[0]!.socket.emit('connect')
  opened[0]!.socket.emit('secureConnect')
  opened[0]!.socket.emit('session', session)
  opened[0]!.socket.emit('error', new Error('reset'))
  connector(https(1, '127.0.0.1'), () => {})
  assert.equal(opened[1]!.session, session)
})
