/**
 * One description of a test, run over every way a client can reach an origin. Servers are those of the
 * runtime; the request listener sees the same objects whatever the protocol.
 */
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { describe, type TestContext } from 'node:test'
import { Client, type ClientOptions, H2CClient } from '../../src/index.ts'
import { authority, localhost } from './certificates.ts'

export type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => void

export interface Wire {
  readonly name: 'h1' | 'h1+tls' | 'h2+tls' | 'h2c'
  readonly secure: boolean
  /** HTTP/2: several exchanges share a connection at the same time. */
  readonly multiplexes: boolean
}

export const WIRES: readonly Wire[] = [
  { name: 'h1', secure: false, multiplexes: false },
  { name: 'h1+tls', secure: true, multiplexes: false },
  { name: 'h2+tls', secure: true, multiplexes: true },
  { name: 'h2c', secure: false, multiplexes: true },
]

/** The runtime's HTTP/2 servers call the same listener with objects that look the same. */
function createServer(wire: Wire, listener: Listener): Server {
  if (!wire.multiplexes) {
    return wire.secure ? https.createServer(localhost, listener) : http.createServer(listener)
  }
  const compatible = listener as unknown as (
    request: http2.Http2ServerRequest,
    response: http2.Http2ServerResponse,
  ) => void
  return wire.secure
    ? http2.createSecureServer(localhost, compatible)
    : (http2.createServer(compatible) as unknown as Server)
}

/** Describes the same tests once for each wire; `skip` gives the reason why a wire is left out. */
export function overEachWire(
  title: string,
  define: (wire: Wire) => void,
  skip: Partial<Record<Wire['name'], string>> = {},
): void {
  for (const wire of WIRES) {
    const reason = skip[wire.name]
    describe(`${title} over ${wire.name}`, reason === undefined ? {} : { skip: reason }, () => define(wire))
  }
}

export interface TestOrigin {
  readonly url: string
  readonly port: number
  readonly server: Server
  /** Sockets the server has accepted so far. */
  readonly sockets: readonly Socket[]
  /** A client for this origin that trusts its certificate; destroyed when the test ends. */
  client(options?: ClientOptions): Client
}

/** Starts an origin on a free port; it is gone when the test ends. */
export async function startOrigin(t: TestContext, wire: Wire, listener: Listener): Promise<TestOrigin> {
  const server = createServer(wire, listener)
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `${wire.secure ? 'https' : 'http'}://localhost:${port}`
  const clients: Client[] = []

  t.after(async () => {
    await Promise.all(clients.map((client) => client.destroy()))
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })

  return {
    url,
    port,
    server,
    sockets,
    client(options = {}) {
      const connect =
        typeof options.connect === 'function' ? options.connect : { ca: authority, ...options.connect }
      const client =
        wire.name === 'h2c' ? new H2CClient(url, options) : new Client(url, { ...options, connect })
      clients.push(client)
      return client
    },
  }
}
