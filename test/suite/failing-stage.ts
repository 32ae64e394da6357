/** An origin that starts responses, tunnels and WebSockets, and hands out its end of each. */
import { createHash } from 'node:crypto'
import type http from 'node:http'
import type http2 from 'node:http2'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { startOrigin, type TestOrigin, type Wire } from '../support/wire.ts'
import type { ServerEnd } from './failing-bodies.ts'

const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Names an exchange to the server. */
export const CELL_HEADER = 'x-cell'

export class FailingStage {
  readonly origin: TestOrigin
  readonly #waiting: Map<string, (end: ServerEnd) => void>

  private constructor(origin: TestOrigin, waiting: Map<string, (end: ServerEnd) => void>) {
    this.origin = origin
    this.#waiting = waiting
  }

  /** Answers `/whole` with a whole body, and anything else with the beginning of one. */
  static async start(t: TestContext, wire: Wire): Promise<FailingStage> {
    const waiting = new Map<string, (end: ServerEnd) => void>()
    const hand = (request: http.IncomingMessage, writeNonsense: () => void): void => {
      const stream = (request as unknown as Partial<http2.Http2ServerRequest>).stream ?? null
      stream?.on('error', () => {})
      const { remotePort } = stream?.session?.socket ?? request.socket
      const socket = origin.sockets.find((each) => each.remotePort === remotePort)!
      // The standard WebSocket cannot set headers: its cell is in the path.
      const cell = request.headers[CELL_HEADER] ?? request.url?.slice(1)
      waiting.get(String(cell))!({ socket, stream, writeNonsense })
    }
    const origin: TestOrigin = await startOrigin(t, wire, (request, response) => {
      response.on('error', () => {})
      if (request.url === '/whole') response.end('whole')
      else {
        if (wire.multiplexes) response.writeHead(200, { 'content-length': '9' })
        response.write('half')
      }
      hand(request, () => {
        if (wire.multiplexes) response.write('longer than announced')
        else request.socket.write('not a chunk\r\n')
      })
    })
    const { server } = origin
    if (wire.multiplexes) {
      ;(server as unknown as http2.Http2Server).updateSettings({ enableConnectProtocol: true })
      server.on('connect', (request: http.IncomingMessage, response: http2.Http2ServerResponse) => {
        response.on('error', () => {})
        response.writeHead(200)
        response.stream.resume()
        hand(request, () => {})
      })
      return new FailingStage(origin, waiting)
    }
    const accept = (request: http.IncomingMessage, socket: Socket, head: string): void => {
      // The runtime leaves the other half of such a socket open.
      socket
        .on('error', () => {})
        .on('end', () => socket.destroy())
        .resume()
      socket.write(`HTTP/1.1 ${head}\r\n\r\n`)
      hand(request, () => {})
    }
    server.on('connect', (request: http.IncomingMessage, socket: Socket) => accept(request, socket, '200 OK'))
    server.on('upgrade', (request: http.IncomingMessage, socket: Socket) => {
      const key = `${request.headers['sec-websocket-key']}${WEBSOCKET_GUID}`
      const proof = createHash('sha1').update(key).digest('base64')
      const fields = [
        'connection: upgrade',
        `upgrade: ${request.headers.upgrade}`,
        `sec-websocket-accept: ${proof}`,
      ]
      accept(request, socket, `101 Switching Protocols\r\n${fields.join('\r\n')}`)
    })
    return new FailingStage(origin, waiting)
  }

  /** The server's end of a future exchange. */
  end(cell: string): Promise<ServerEnd> {
    return new Promise((resolve) => this.#waiting.set(cell, resolve))
  }
}
