/** Certificates that change, and the log of secrets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import tls, { type TLSSocket } from 'node:tls'
import { type BuildConnectorOptions, buildConnector } from '../../src/net/connector.ts'
import { generations } from '../support/certificates.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'

holdTlsSessions()

const [one, two] = generations as [(typeof generations)[0], (typeof generations)[0]]

/** Trusts both generations of clients; says for each connection whose certificate it has, and whether it was resumed. */
async function startServer(t: TestContext): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = []
  const server = tls.createServer({ ...one, ca: [one.ca, two.ca], requestCert: true }, (socket) => {
    const name = socket.getPeerCertificate().subject?.CN ?? 'nobody'
    seen.push(`${name}${socket.isSessionReused() ? ', resumed' : ''}`)
    socket.on('error', () => {})
    socket.end('x')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, seen }
}

type Connect = () => Promise<TLSSocket>

function connecting(port: number, options: BuildConnectorOptions): Connect {
  const connector = buildConnector(options)
  return async () => {
    const socket = await new Promise<TLSSocket>((resolve, reject) => {
      connector({ hostname: 'localhost', protocol: 'https:', port }, (error, connected) =>
        error === null ? resolve(connected as TLSSocket) : reject(error),
      )
    })
    // The sessions of TLS 1.3 come after the handshake.
    socket.resume()
    await once(socket, 'close')
    return socket
  }
}

test('cert, key and ca are asked for each connection, and a session is resumed only with the same ones', async (t) => {
  const { port, seen } = await startServer(t)
  let present = one
  const connect = connecting(port, {
    // Read anew each time, as from a file.
    cert: () => Buffer.from(present.cert),
    key: () => present.key,
    ca: () => [one.ca],
  })
  for (const identity of [one, one, two, two, one]) {
    present = identity
    await connect()
  }
  assert.deepEqual(seen, [
    'generation 1',
    'generation 1, resumed',
    'generation 2',
    'generation 2, resumed',
    'generation 1',
  ])
})

test('an authority that is not trusted any more ends the resuming, too', async (t) => {
  const { port, seen } = await startServer(t)
  let ca = [one.ca]
  const connect = connecting(port, { ...one, ca: () => ca })
  await connect()
  ca = [two.ca]
  await assert.rejects(connect(), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  assert.equal(seen[0], 'generation 1')
  assert.ok(!seen.includes('generation 1, resumed'))
})

test('a buffer that was filled anew is another certificate', async (t) => {
  const { port, seen } = await startServer(t)
  const key = (): string => (cert.toString().trim() === one.cert.trim() ? one.key : two.key)
  const cert = Buffer.alloc(Math.max(one.cert.length, two.cert.length), '\n')
  const connect = connecting(port, { ca: one.ca, cert: () => cert, key })
  cert.write(one.cert)
  await connect()
  cert.fill('\n').write(two.cert)
  await connect()
  assert.deepEqual(seen, ['generation 1', 'generation 2'])
})

test('secureContext may be a function', async (t) => {
  const { port, seen } = await startServer(t)
  const contexts = [one, two].map((identity) => tls.createSecureContext({ ...identity, ca: one.ca }))
  let asked = 0
  const connect = connecting(port, { secureContext: () => contexts[Math.min(asked++, 1)]! })
  for (let i = 0; i < 3; i++) await connect()
  assert.deepEqual(seen, ['generation 1', 'generation 2', 'generation 2, resumed'])
  assert.equal(asked, 3)
})

test('what such a function throws is the error of the connect; a promise is a mistake', async (t) => {
  const { port, seen } = await startServer(t)
  const thrown = new Error('no certificate today')
  const throwing = connecting(port, {
    cert: () => {
      throw thrown
    },
  })
  await assert.rejects(throwing(), thrown)
  const late = async (): Promise<string> => {
    throw thrown
  }
  // The types forbid it.
  await assert.rejects(connecting(port, { key: late as never })(), {
    code: 'UND_ERR_INVALID_ARG',
    message: 'key must not return a promise',
  })
  assert.deepEqual(seen, [])
})

test('keylog appends the secrets of connections to a file that only its owner can read', async (t) => {
  const { port } = await startServer(t)
  const folder = mkdtempSync(join(tmpdir(), 'keylog-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const keylog = join(folder, 'keys')
  const connect = connecting(port, { ...one, keylog })
  await connect()
  const first = readFileSync(keylog, 'latin1')
  assert.match(first, /^CLIENT_HANDSHAKE_TRAFFIC_SECRET [0-9a-f]+ [0-9a-f]+$/m)
  if (process.platform !== 'win32') assert.equal(statSync(keylog).mode & 0o077, 0)
  await connect()
  const second = readFileSync(keylog, 'latin1')
  assert.ok(second.startsWith(first) && second.length > first.length)

  await assert.rejects(connecting(port, { ...one, keylog: join(folder, 'none', 'keys') })(), {
    code: 'ENOENT',
  })
  for (const wrong of ['', 1, {}]) {
    assert.throws(() => buildConnector({ keylog: wrong as never }), /keylog must be the path of a file/)
  }
})
