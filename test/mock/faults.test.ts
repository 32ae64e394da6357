/**
 * `fault()`: the caller cannot tell it from the same fault of a real server. One table has the behaviour of that server over
 * each protocol; both run.
 */
import assert from 'node:assert/strict'
import net, { type AddressInfo, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { Client, type ClientOptions, H2CClient, type WireFault } from '../../src/index.ts'
import { SETTINGS } from '../../src/protocol/http2/constants.ts'
import { failure } from '../support/exchange.ts'
import { type H2Peer, startH2Server } from '../support/h2-server.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { mocking, ORIGIN } from './mocking.ts'

type ReplyFault = Exclude<WireFault, `connect-${string}`>
type Protocol = 'h1' | 'h2'

interface Behaviour {
  readonly h1: (socket: Socket) => unknown
  readonly h2: (peer: H2Peer, stream: number) => unknown
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
const PART = 'only a part'

/** The client reads the bytes before it sees the reset. */
function resetLater(socket: Socket): void {
  setTimeout(() => socket.resetAndDestroy(), 20)
}

const reset = ({ socket }: H2Peer): void => resetLater(socket as Socket)
const part = (peer: H2Peer, stream: number): H2Peer =>
  peer.head(stream, 200, ['content-length', '100']).data(stream, PART)

/** What a real server does for each fault. */
const SERVERS: Record<ReplyFault, Behaviour> = {
  'reset-before-head': {
    h1: (socket) => socket.resetAndDestroy(),
    h2: reset,
  },
  'reset-in-head': {
    h1: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-le', () => resetLater(socket)),
    h2: (peer) => peer.socket.write(Buffer.from([0, 0, 20, 1]), () => reset(peer)),
  },
  'reset-in-body': {
    h1: (socket) => socket.write(HEAD + PART, () => resetLater(socket)),
    h2: (peer, stream) => reset(part(peer, stream)),
  },
  'truncated-body': {
    h1: (socket) => socket.end(HEAD + PART),
    h2: (peer, stream) => part(peer, stream).data(stream, '', true),
  },
  'bad-chunk': {
    h1: (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a size\r\n'),
    h2: (peer, stream) => part(peer, stream).send(SETTINGS, 0, 0, Buffer.alloc(5)),
  },
  'stall-head': { h1: () => {}, h2: () => {} },
  'stall-body': {
    h1: (socket) => socket.write(HEAD + PART),
    h2: part,
  },
}

/** The limit that a fault runs into. The others stay long: a slow machine must not run into them first. */
const LIMITS: Partial<Record<WireFault, ClientOptions>> = {
  'stall-head': { headersTimeout: 60 },
  'stall-body': { bodyTimeout: 60 },
  'connect-timeout': { connectTimeout: 60 },
}

/** Fails as the fault makes it, over real sockets. */
const REAL: Record<
  Protocol,
  (t: TestContext, fault: ReplyFault, method: 'GET' | 'POST') => Promise<unknown>
> = {
  h1: async (t, fault, method) => {
    const port = await listen(t, (socket) => socket.once('data', () => SERVERS[fault].h1(socket)))
    return outcome(clientTo(t, 'h1', port, LIMITS[fault]).request({ path: '/', method }))
  },
  h2: async (t, fault, method) => {
    const server = await startH2Server(t)
    const { port } = new URL(server.url)
    const client = clientTo(t, 'h2', Number(port), LIMITS[fault])
    const failed = outcome(client.request({ path: '/', method }))
    const peer = await server.accept()
    const { id } = await peer.request()
    // A client that writes to a connection that was reset may get the error of the write.
    await peer.settled()
    SERVERS[fault].h2(peer, id)
    return failed
  },
}

function clientTo(t: TestContext, protocol: Protocol, port: number, options: ClientOptions = {}): Client {
  const make = protocol === 'h1' ? Client : H2CClient
  const client = new make(`http://127.0.0.1:${port}`, options)
  t.after(() => client.destroy())
  return client
}

async function listen(t: TestContext, onSocket: (socket: Socket) => unknown): Promise<number> {
  const sockets: Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function outcome(request: Promise<{ body: { text(): Promise<string> } }>): Promise<unknown> {
  const { name, code, phase, retrySafety } = await failure(request.then(({ body }) => body.text()))
  return { name, code, phase, retrySafety }
}

/** The same fault of a mock; others follow on the same agent. */
function mocked(t: TestContext, protocol: Protocol, fault: WireFault, method: string): Promise<unknown> {
  const { agent, pool } = mocking(t, { wire: true, protocol, ...LIMITS[fault] })
  pool.intercept({ path: '/', method }).fault(fault)
  return outcome(agent.request({ origin: ORIGIN, path: '/', method: method as 'GET' }))
}

for (const protocol of ['h1', 'h2'] as const) {
  describe(`a fault over ${protocol} is what it is with a real server`, () => {
    for (const fault of Object.keys(SERVERS) as ReplyFault[]) {
      for (const method of ['POST', 'GET'] as const) {
        test(`${fault} over ${protocol}, ${method}`, async (t) => {
          const [real, mock] = await Promise.all([
            REAL[protocol](t, fault, method),
            mocked(t, protocol, fault, method),
          ])
          assert.notEqual((real as { code?: unknown }).code, undefined)
          assert.deepEqual(mock, real)
        })
      }
    }

    test(`connect-refused over ${protocol}`, async (t) => {
      const client = clientTo(t, protocol, await refusingPort(t))
      const real = await failure(client.request({ path: '/', method: 'GET' }))
      const { agent, pool, send } = mocking(t, { wire: true, protocol })
      pool.intercept({ path: '/' }).fault('connect-refused')
      pool.intercept({ path: '/' }).reply(200)
      const mock = await failure(agent.request({ origin: ORIGIN, path: '/', method: 'GET' }))
      for (const name of ['name', 'code', 'syscall', 'phase', 'retrySafety'] as const) {
        assert.equal(mock[name as 'code'], real[name as 'code'], name)
      }
      assert.equal(mock.message, 'connect ECONNREFUSED a.test:80')
      assert.equal((await send('/')).status, 200)
    })

    test(`connect-timeout over ${protocol}`, async (t) => {
      // Not to be had from the loopback interface, but for the handshake of TLS it is the same.
      const port = await listen(t, () => {})
      const client = new Client(`https://127.0.0.1:${port}`, LIMITS['connect-timeout'])
      t.after(() => client.destroy())
      const real = await failure(client.request({ path: '/', method: 'GET' }))
      const { agent, pool } = mocking(t, { wire: true, protocol, ...LIMITS['connect-timeout'] })
      pool.intercept({ path: '/' }).fault('connect-timeout')
      const mock = await failure(agent.request({ origin: ORIGIN, path: '/', method: 'GET' }))
      for (const name of ['name', 'code', 'phase', 'retrySafety'] as const) {
        assert.equal(mock[name as 'code'], real[name as 'code'], name)
      }
      assert.equal(mock.message, 'Connect Timeout Error (attempted address: a.test:80, timeout: 60ms)')
    })
  })
}
