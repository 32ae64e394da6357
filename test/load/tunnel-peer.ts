/**
 * A proxy that is every origin itself: what CONNECT asks for is answered in its own process, so that a tunnel costs one
 * connection, or one stream of HTTP/2. It runs here or, to measure the memory of the client alone, in a separate process.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { localhost } from '../support/certificates.ts'

export type TunnelWire = 'h1' | 'h2'

/** Streams that are being closed count, too. */
const STREAMS = 1000

export interface TunnelPeer {
  readonly url: string
  stop(): Promise<void>
}

export async function startTunnelPeer(wire: TunnelWire): Promise<TunnelPeer> {
  const server: Server = wire === 'h1' ? http1Proxy() : http2Proxy()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${wire === 'h1' ? 'http' : 'https'}://localhost:${port}`,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Requests without a body; each has its own tunnel. */
function answerInside(tunnel: Duplex): void {
  tunnel.on('error', () => {})
  let head = ''
  tunnel.on('data', (bytes: Buffer) => {
    head += bytes.toString('latin1')
    if (head.endsWith('\r\n\r\n'))
      tunnel.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok')
  })
}

function http1Proxy(): Server {
  return http.createServer().on('connect', (_request, socket: Duplex) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    answerInside(socket)
  })
}

function http2Proxy(): Server {
  const server = http2.createSecureServer({ ...localhost, settings: { maxConcurrentStreams: STREAMS } })
  server.on('stream', (stream: http2.ServerHttp2Stream) => {
    stream.respond({ ':status': 200 })
    answerInside(stream)
  })
  return server.on('sessionError', () => {}) as unknown as Server
}

/** The same in a separate process. */
export async function forkTunnelPeer(wire: TunnelWire): Promise<TunnelPeer> {
  const child = fork(new URL('tunnel-process.ts', import.meta.url), [wire])
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}
