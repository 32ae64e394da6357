/** A plain tunnel is read as a direct connection is: into shared memory, and not through the `data` events of its socket. */
import assert from 'node:assert/strict'
import diagnosticsChannel from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { Client, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { startProxy } from './support/test-proxy.ts'

const H1 = WIRES[0]!
const skip = process.versions['deno'] !== undefined && 'Deno reads sockets with listeners of its own'

/** The sockets that clients read from now on. */
function watchSockets(t: TestContext): Socket[] {
  const sockets: Socket[] = []
  const listen = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket)
  diagnosticsChannel.subscribe('undici:client:connected', listen)
  t.after(() => diagnosticsChannel.unsubscribe('undici:client:connected', listen))
  return sockets
}

/** Sends bodies of several sizes, and has them back. */
async function echoSome(agent: Dispatcher, origin: string): Promise<void> {
  for (const size of [1, 300_000, 1000, 2_000_000, 10]) {
    const content = Buffer.alloc(size, 'ventuno')
    const { body } = await agent.request({ origin, path: '/', method: 'POST', body: content })
    assert.ok(Buffer.from(await body.arrayBuffer()).equals(content), String(size))
  }
}

const AGENTS: readonly [string, (t: TestContext) => Promise<Dispatcher>][] = [
  ...(['h1', 'h1+tls'] as const).map((wire): [string, (t: TestContext) => Promise<Dispatcher>] => [
    `a proxy over ${wire}`,
    async (t) => (await startProxy(t, wire)).agent({ proxyTunnel: true }),
  ]),
  ['a SOCKS proxy', async (t) => new Socks5ProxyAgent((await startSocksServer(t)).url)],
  [
    'a SOCKS proxy with TLS',
    async (t) => {
      const { url } = await startSocksServer(t, { tls: localhost })
      return new Socks5ProxyAgent(url, { proxyTls: { ca: authority } })
    },
  ],
]

for (const [name, makeAgent] of AGENTS) {
  describe(`a plain tunnel through ${name}`, () => {
    test('has no reader of data', { skip }, async (t) => {
      const origin = await startOrigin(t, H1, (request, response) => void request.pipe(response))
      const agent = await makeAgent(t)
      t.after(() => agent.destroy())
      const sockets = watchSockets(t)
      await echoSome(agent, origin.url)
      assert.equal(origin.sockets.length, 1)
      // Those to an HTTP proxy are read twice: for the answer to CONNECT, and as the tunnel.
      for (const socket of sockets) assert.equal(socket.listenerCount('data'), 0)
      assert.ok(sockets.length > 0)
    })

    test('becomes an ordinary socket when it is handed over', async (t) => {
      const origin = await startOrigin(t, H1, () => assert.fail('not an upgrade'))
      origin.server.on('upgrade', (_request: unknown, socket: Socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nearly ')
        socket.pipe(socket)
      })
      const agent = await makeAgent(t)
      t.after(() => agent.destroy())
      const { socket } = await agent.upgrade({ origin: origin.url, path: '/', protocol: 'echo' })
      const sent = 'x'.repeat(300_000)
      let received = ''
      const done = new Promise<void>((resolve) => {
        socket.on('data', (chunk: Buffer) => {
          received += chunk.toString('latin1')
          socket.pause()
          setImmediate(() => socket.resume())
          if (received.length === sent.length + 'early '.length) resolve()
        })
      })
      socket.write(sent)
      await done
      assert.equal(received, `early ${sent}`)
      socket.destroy()
    })
  })
}

test('a dispatcher that passes no details gets an ordinary socket', async (t) => {
  const origin = await startOrigin(t, H1, (request, response) => void request.pipe(response))
  const proxy = await startProxy(t, 'h1')
  const agent = proxy.agent({
    proxyTunnel: true,
    factory: (url, options) => {
      const { connect } = options as { connect: (...args: unknown[]) => void }
      return new Client(url, { connect: (target, callback) => connect(target, callback) })
    },
  })
  await echoSome(agent, origin.url)
  assert.ok(proxy.servedAll(origin))
})

test('a tunnel that a subscriber reads is left to its events', async (t) => {
  const origin = await startOrigin(t, H1, (request, response) => void request.pipe(response))
  const proxy = await startProxy(t, 'h1')
  let seen = 0
  const listen = (message: unknown): void => {
    const { socket } = message as { socket: Socket }
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.length
    })
  }
  diagnosticsChannel.subscribe('undici:proxy:connected', listen)
  t.after(() => diagnosticsChannel.unsubscribe('undici:proxy:connected', listen))
  const agent = new ProxyAgent({ uri: proxy.url, proxyTunnel: true })
  t.after(() => agent.destroy())
  await echoSome(agent, origin.url)
  assert.ok(seen > 2_000_000)
})
