// The origins of the tour: the runtime's servers on loopback, one for each way a client can reach them.
import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { Client, type ClientOptions, getCookies, H2CClient, Headers } from '../../src/index.ts'

type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => void

/** Certificates for localhost that come with the project. */
const pem = (name: string): string =>
  readFileSync(new URL(`../../test/support/certs/${name}.pem`, import.meta.url), 'utf8')
const identity = { key: pem('localhost-key'), cert: pem('localhost') }

export interface Way {
  readonly name: string
  readonly isSecure: boolean
  readonly isHttp2: boolean
}

export const WAYS: readonly Way[] = [
  { name: 'HTTP/1.1', isSecure: false, isHttp2: false },
  { name: 'HTTP/1.1 over TLS', isSecure: true, isHttp2: false },
  { name: 'HTTP/2 over TLS', isSecure: true, isHttp2: true },
  { name: 'HTTP/2 over cleartext (h2c)', isSecure: false, isHttp2: true },
]

/** Number of /together requests that are answered together. */
export const TOGETHER = 3

export class Origin {
  readonly way: Way
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Emits the path of each request. */
  readonly arrivals: EventEmitter = new EventEmitter()

  private constructor(way: Way) {
    this.way = way
    this.#server = createServer(way, this.#listener())
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket))
    // An HTTP/1.1 upgrade, and its counterpart in HTTP/2 (RFC 8441): both echo what they receive.
    this.#server.on('upgrade', (_request: http.IncomingMessage, socket: Duplex) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
      socket.pipe(socket)
    })
    this.#server.on('connect', ({ stream }: http2.Http2ServerRequest) => {
      stream.respond({ ':status': 200 })
      stream.pipe(stream)
    })
  }

  static async start(way: Way): Promise<Origin> {
    const origin = new Origin(way)
    await once(origin.#server.listen(0, '127.0.0.1'), 'listening')
    return origin
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `${this.way.isSecure ? 'https' : 'http'}://localhost:${port}`
  }

  /** A client that trusts its certificate. */
  client(options: Omit<ClientOptions, 'connect'> = {}): Client {
    const { isSecure, isHttp2 } = this.way
    if (isHttp2 && !isSecure) return new H2CClient(this.url)
    return new Client(this.url, isSecure ? { ...options, connect: { ca: pem('ca') } } : options)
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#dropConnections()
    await closed
  }

  #dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  #listener(): Listener {
    const waiting: http.ServerResponse[] = []
    let isReady = false
    return (request, response) => {
      this.arrivals.emit(request.url!)
      switch (request.url) {
        case '/never':
          return
        case '/die':
          this.#dropConnections()
          return
        case '/login':
          response.setHeader('set-cookie', 'session=21; Path=/; HttpOnly')
          response.end('welcome')
          return
        case '/whoami':
          response.end(
            `session ${getCookies(new Headers({ cookie: request.headers.cookie ?? '' }))['session']}`,
          )
          return
        case '/moved':
          response.writeHead(302, { location: '/packed', 'cache-control': 'max-age=60' })
          response.end()
          return
        case '/packed':
          response.writeHead(isReady ? 200 : 503, {
            'content-encoding': 'gzip',
            'cache-control': 'max-age=60',
          })
          response.end(gzipSync(`hello from ${request.url}`))
          isReady = true
          return
        case '/trailers':
          response.setHeader('trailer', 'checksum')
          response.write('a body, then a trailer')
          response.addTrailers({ checksum: '42' })
          response.end()
          return
        case '/together':
          if (waiting.push(response) < TOGETHER) return
          for (const [i, held] of waiting.splice(0).entries()) held.end(`answer ${i + 1}`)
          return
        default:
          if (request.method === 'POST') request.pipe(response)
          else response.end(`hello from ${request.url}`)
      }
    }
  }
}

function createServer({ isSecure, isHttp2 }: Way, listener: Listener): Server {
  if (!isHttp2) return isSecure ? https.createServer(identity, listener) : http.createServer(listener)
  // The compatibility API of node:http2 calls the same listener with equivalent objects.
  const same = listener as unknown as (q: http2.Http2ServerRequest, s: http2.Http2ServerResponse) => void
  const settings = { enableConnectProtocol: true }
  return isSecure
    ? http2.createSecureServer({ ...identity, settings }, same)
    : (http2.createServer({ settings }, same) as unknown as Server)
}
