/** The `connect` that a pool passes to its factory works for clients of any library. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { Client, type ClientOptions, type ConnectFunction, Pool, RoundRobinPool } from '../../src/index.ts'
import { contentOf, echo, readEcho } from '../support/exchange.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'
import { startOrigin, WIRES, type Wire, wireOptions } from '../support/wire.ts'

holdTlsSessions()

/** One request, and the arguments of its factory. */
async function optionsFor(
  t: TestContext,
  Kind: typeof Pool | typeof RoundRobinPool,
  url: string,
  wire: Wire,
): Promise<{ connect: ConnectFunction; client: Client }> {
  const seen: { options: ClientOptions; client: Client }[] = []
  const pool = new Kind(url, {
    ...wireOptions(wire),
    factory: (origin, options) => {
      const client = new Client(origin, options)
      seen.push({ options, client })
      return client
    },
  })
  t.after(() => pool.destroy())
  await readEcho(await pool.request({ path: '/', method: 'GET' }))
  const [{ options, client }] = seen as [(typeof seen)[0]]
  return { connect: options.connect as ConnectFunction, client }
}

function open(connect: ConnectFunction, url: string): Promise<Duplex> {
  const { host, hostname, protocol, port } = new URL(url)
  return new Promise((resolve, reject) => {
    connect({ host, hostname, protocol, port }, (error, socket) => (error ? reject(error) : resolve(socket!)))
  })
}

for (const wire of WIRES.filter(({ multiplexes }) => !multiplexes)) {
  for (const Kind of [Pool, RoundRobinPool]) {
    describe(`${Kind.name}: the connector for a factory over ${wire.name}`, () => {
      for (const way of ['data', 'readable', 'iteration'] as const) {
        test(`whoever else calls it gets a socket to read from: ${way}`, async (t) => {
          const origin = await startOrigin(t, wire, echo)
          const { connect } = await optionsFor(t, Kind, origin.url, wire)
          const socket = await open(connect, origin.url)
          t.after(() => socket.destroy())
          socket.write('GET /other HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
          assert.match(await read(socket, way), /^HTTP\/1\.1 200 .*"url":"\/other"/s)
        })
      }

      test('its TLS sessions are those of the members', { skip: !wire.secure && 'no TLS' }, async (t) => {
        const origin = await startOrigin(t, wire, echo)
        const { connect } = await optionsFor(t, Kind, origin.url, wire)
        const socket = (await open(connect, origin.url)) as TLSSocket
        t.after(() => socket.destroy())
        assert.equal(socket.isSessionReused(), true)
      })
    })
  }
}

async function read(socket: Duplex, way: 'data' | 'readable' | 'iteration'): Promise<string> {
  if (way === 'iteration') return String(await contentOf(socket))
  const chunks: Buffer[] = []
  if (way === 'data') socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  else {
    socket.on('readable', () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) chunks.push(chunk as Buffer)
    })
  }
  await once(socket, 'end')
  return Buffer.concat(chunks).toString()
}
