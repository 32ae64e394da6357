/**
 * The origin server for reverse proxies: everything that static files cannot do. Echoed and refused bodies, trailers, interim
 * responses, responses without content, delayed responses, WebSockets; and the site's files for proxies that cannot
 * serve files.
 */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { digest, LARGE, SMALL, TEXT } from './content.ts'
import type { Stage } from './stage.ts'

export const TRAILER = 'x-checksum'
export const TRAILED_TEXT = 'a body with a trailer'
export const HINT = '</style.css>; rel=preload; as=style'

const FILES: Readonly<Record<string, Buffer>> = {
  '/small.txt': SMALL,
  '/large.bin': LARGE,
  '/text.txt': Buffer.from(TEXT),
}
const TAGS: Readonly<Record<string, string>> = {
  '/small.txt': `"${digest(SMALL).slice(0, 16)}"`,
  '/large.bin': `"${digest(LARGE).slice(0, 16)}"`,
  '/text.txt': `"${digest(Buffer.from(TEXT)).slice(0, 16)}"`,
}
/** The size of the WebSocket test's messages, with a margin. */
const MAX_MESSAGE = 64 * 1024 * 1024

export class Backend {
  readonly port: number
  readonly #held: (() => void)[] = []
  readonly #waiting: (() => void)[] = []

  private constructor(server: http.Server) {
    this.port = (server.address() as AddressInfo).port
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) =>
      this.#answer(request, response),
    )
  }

  static async start(stage: Stage): Promise<Backend> {
    // A proxy keeps its connections: closing one that it is about to use would fail a request.
    const server = http.createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 })
    server.on('checkContinue', (request: http.IncomingMessage, response: http.ServerResponse) => {
      if (request.url !== '/backend/refused') response.writeContinue()
      server.emit('request', request, response)
    })
    const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE })
    server.on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on('message', (data: Buffer, isBinary: boolean) => client.send(data, { binary: isBinary }))
        client.on('error', () => client.terminate())
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    stage.onEnd(async () => {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return new Backend(server)
  }

  /** Resolves when a request for `/backend/held` has arrived and is held. */
  async heldOne(): Promise<void> {
    if (this.#held.length > 0) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Answers all held requests. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer()
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    switch (request.url) {
      case '/backend/echo': {
        const parts: Buffer[] = []
        request.on('data', (part: Buffer) => parts.push(part))
        request.on('end', () => response.end(Buffer.concat(parts)))
        return
      }
      case '/backend/refused':
        response.writeHead(413, { connection: 'close' })
        response.end('too much')
        return
      case '/backend/echo/duplex':
        response.writeHead(200)
        request.pipe(response)
        return
      case '/backend/trailers':
        response.writeHead(200, { trailer: TRAILER })
        response.write(TRAILED_TEXT)
        response.addTrailers({ [TRAILER]: digest(Buffer.from(TRAILED_TEXT)) })
        response.end()
        return
      case '/backend/early-hints':
        response.writeEarlyHints({ link: HINT })
        response.end('ready')
        return
      case '/backend/empty':
        response.writeHead(204)
        response.end()
        return
      case '/backend/held':
        this.#held.push(() => response.end('at last'))
        for (const resolve of this.#waiting.splice(0)) resolve()
        return
      default:
        this.#serveFile(request, response)
    }
  }

  #serveFile(request: http.IncomingMessage, response: http.ServerResponse): void {
    const path = request.url ?? ''
    const content = FILES[path]
    const tag = TAGS[path]
    if (content === undefined || tag === undefined) {
      response.writeHead(404)
      response.end('not here')
    } else if (request.headers['if-none-match'] === tag) {
      response.writeHead(304, { etag: tag })
      response.end()
    } else {
      const type = path === '/text.txt' ? { 'content-type': 'text/plain' } : {}
      response.writeHead(200, { etag: tag, 'content-length': content.length, ...type })
      response.end(content)
    }
  }
}
