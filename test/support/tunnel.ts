/**
 * Both ends of a connection that was handed over by `upgrade()` or `connect()`, over every wire, and for comparison a
 * socket that the runtime opened without the library.
 */
import { once } from 'node:events'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import { buildConnector, Client, H2CClient } from '../../src/index.ts'
import { authority, localhost } from './certificates.ts'

/** `given`: the caller's function opens the socket. */
export type TunnelWire =
  | 'h1'
  | 'h1+tls'
  | 'h1 given'
  | 'h1+tls given'
  | 'h2+tls'
  | 'h2c'
  | 'net.Socket'
  | 'tls.TLSSocket'
export type TunnelKind = 'upgrade' | 'connect'

export const OWN_WIRES: readonly TunnelWire[] = ['h1', 'h1+tls', 'h1 given', 'h1+tls given', 'h2+tls', 'h2c']
export const SOCKET_WIRES: readonly TunnelWire[] = [
  'h1',
  'h1+tls',
  'h1 given',
  'h1+tls given',
  'net.Socket',
  'tls.TLSSocket',
]
export const TUNNEL_KINDS: readonly TunnelKind[] = ['upgrade', 'connect']

const ANSWERS: Record<TunnelKind, string> = {
  upgrade: 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  connect: 'HTTP/1.1 200 OK\r\n\r\n',
}

/** Called with the server's end. Its return value is sent with the head of the response. */
export type OnPeer = (peer: Duplex) => Uint8Array | string | Promise<Uint8Array | string>

export function isSecure(wire: TunnelWire): boolean {
  return wire.includes('tls')
}

function isHttp2(wire: TunnelWire): boolean {
  return wire === 'h2+tls' || wire === 'h2c'
}

async function listen(t: TestContext, server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => sockets.add(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

function serveSockets(wire: TunnelWire, kind: TunnelKind, onPeer: OnPeer): net.Server {
  const accept = async (socket: net.Socket): Promise<void> => {
    socket.on('error', () => {})
    let head = ''
    while (!head.endsWith('\r\n\r\n')) head += String((await once(socket, 'data'))[0])
    socket.pause()
    const early = await onPeer(socket)
    socket.write(Buffer.concat([Buffer.from(ANSWERS[kind]), Buffer.from(early)]))
  }
  return isSecure(wire) ? tls.createServer(localhost, accept) : net.createServer(accept)
}

function serveStreams(wire: TunnelWire, onPeer: OnPeer): net.Server {
  const settings = { enableConnectProtocol: true }
  const server =
    wire === 'h2+tls'
      ? http2.createSecureServer({ ...localhost, settings })
      : http2.createServer({ settings })
  server.on('stream', async (stream: http2.ServerHttp2Stream) => {
    stream.on('error', () => {})
    const early = await onPeer(stream)
    stream.respond({ ':status': 200 })
    if (early.length > 0) stream.write(early)
  })
  return server as unknown as net.Server
}

/** Starts a server and opens a tunnel to it; both are closed when the test ends. */
export async function openTunnel(
  t: TestContext,
  wire: TunnelWire,
  kind: TunnelKind,
  onPeer: OnPeer,
): Promise<net.Socket> {
  const server = isHttp2(wire) ? serveStreams(wire, onPeer) : serveSockets(wire, kind, onPeer)
  const port = await listen(t, server)
  const socket = wire.includes('Socket')
    ? await openPlainly(wire, port, kind)
    : await openOurs(t, wire, port, kind)
  t.after(() => {
    socket.on('error', () => {})
    socket.destroy()
  })
  return socket as net.Socket
}

async function openOurs(t: TestContext, wire: TunnelWire, port: number, kind: TunnelKind): Promise<Duplex> {
  const options = { ca: authority, allowH2: isHttp2(wire) }
  const client =
    wire === 'h2c'
      ? new H2CClient(`http://localhost:${port}`)
      : new Client(`${isSecure(wire) ? 'https' : 'http'}://localhost:${port}`, {
          connect: wire.endsWith('given') ? buildConnector(options) : options,
        })
  const opened =
    kind === 'upgrade'
      ? await client.upgrade({ path: '/', protocol: 'websocket' })
      : await client.connect({ path: 'localhost:1' })
  // First: a wrapper around the socket would emit the error that it gets from the client.
  t.after(() => void opened.socket.destroy())
  t.after(() => void client.destroy())
  return opened.socket
}

/** The same with only the runtime. */
async function openPlainly(wire: TunnelWire, port: number, kind: TunnelKind): Promise<Duplex> {
  const socket = isSecure(wire)
    ? tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority })
    : net.connect({ port, host: '127.0.0.1' })
  await once(socket, isSecure(wire) ? 'secureConnect' : 'connect')
  socket.write('GET / HTTP/1.1\r\n\r\n')
  const head = ANSWERS[kind].length
  while (true) {
    await once(socket, 'readable')
    const bytes = socket.read() as Buffer | null
    if (bytes === null) continue
    if (bytes.length > head) socket.unshift(bytes.subarray(head))
    return socket
  }
}
