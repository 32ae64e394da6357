/**
 * A forward proxy of the runtime's own servers: it opens tunnels, over HTTP/1.1 or as streams of HTTP/2, and forwards requests.
 * Every name leads to 127.0.0.1, so that only a request through it reaches a name that does not exist. It records what it was
 * asked, and from which ports it went on.
 */
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net, { type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import { ProxyAgent, type ProxyAgentOptions } from '../../../src/index.ts'
import { authority, localhost, other } from '../../support/certificates.ts'
import type { TestOrigin } from '../../support/wire.ts'

export type ProxyWire = 'h1' | 'h1+tls' | 'h2+tls'
export const PROXY_WIRES: readonly ProxyWire[] = ['h1', 'h1+tls', 'h2+tls']

export interface Asked {
  readonly method: string
  /** Host and port, or the whole URL. */
  readonly target: string
  readonly headers: Record<string, string | string[] | undefined>
}

/** The answer to a CONNECT: 200 opens the tunnel. */
export interface Verdict {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

export interface TestProxyOptions {
  readonly judge?: (asked: Asked) => Verdict | null
  readonly http2?: http2.SecureServerOptions
  /** For another name than that of the proxy. */
  readonly wrongName?: boolean
}

export class TestProxy {
  readonly url: string
  readonly port: number
  readonly server: net.Server
  /** Connections accepted so far. */
  readonly sockets: readonly Socket[]
  /** CONNECT requests in order. */
  readonly connects: Asked[] = []
  /** Forwarded requests in order. */
  readonly forwards: Asked[] = []
  /** The open tunnels, the proxy's end of them. */
  readonly tunnels: Set<Duplex> = new Set()
  readonly #ports = new Set<number>()
  readonly #judge: (asked: Asked) => Verdict | null
  readonly #t: TestContext

  constructor(
    t: TestContext,
    server: net.Server,
    sockets: Socket[],
    isSecure: boolean,
    options: TestProxyOptions,
  ) {
    this.#t = t
    this.server = server
    this.port = (server.address() as AddressInfo).port
    this.url = `${isSecure ? 'https' : 'http'}://localhost:${this.port}`
    this.sockets = sockets
    this.#judge = options.judge ?? (() => null)
    server.on('connect', (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
      if (typeof request.url === 'string' && request.httpVersionMajor === 1) {
        this.#onConnect(request, socket, head)
      }
    })
    server.on('stream', (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
      this.#onStream(stream, headers)
    })
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      if (request.httpVersionMajor === 1) this.#onRequest(request, response)
    })
  }

  /** An agent that trusts the proxy and the origins of the tests; destroyed when the test ends. */
  agent(options: ProxyAgentOptions = {}): ProxyAgent {
    const agent = new ProxyAgent({
      uri: this.url,
      ...options,
      requestTls: { ca: authority, ...options.requestTls },
      proxyTls: { ca: authority, ...options.proxyTls },
    })
    this.#t.after(() => agent.destroy())
    return agent
  }

  /** Whether every connection of the origin came from here. */
  servedAll(origin: TestOrigin): boolean {
    return origin.sockets.length > 0 && origin.sockets.every(({ remotePort }) => this.#ports.has(remotePort!))
  }

  #onConnect(request: http.IncomingMessage, socket: Duplex, head: Buffer): void {
    const asked = { method: 'CONNECT', target: request.url!, headers: request.headers }
    this.connects.push(asked)
    const verdict = this.#judge(asked)
    if (verdict !== null && verdict.status !== 200) {
      const body = verdict.body ?? ''
      const fields = Object.entries({ 'content-length': String(body.length), ...verdict.headers })
      socket.end(
        `HTTP/1.1 ${verdict.status} No\r\n${fields.map((pair) => `${pair.join(': ')}\r\n`).join('')}\r\n${body}`,
      )
      return
    }
    const upstream = this.#reach(asked.target, socket)
    upstream.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      socket.pipe(upstream).pipe(socket)
    })
  }

  #onStream(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void {
    if (headers[':method'] !== 'CONNECT') {
      stream.respond({ ':status': 501 }, { endStream: true })
      return
    }
    const asked = { method: 'CONNECT', target: headers[':authority']!, headers: { ...headers } }
    this.connects.push(asked)
    const verdict = this.#judge(asked)
    if (verdict !== null && verdict.status !== 200) {
      stream.on('error', () => {})
      stream.respond({ ':status': verdict.status, ...verdict.headers })
      stream.end(verdict.body ?? '')
      return
    }
    const upstream = this.#reach(asked.target, stream)
    upstream.once('connect', () => {
      stream.respond({ ':status': 200 })
      stream.pipe(upstream).pipe(stream)
    })
  }

  #reach(target: string, tunnel: Duplex): Socket {
    const upstream = net.connect(Number(/:(\d+)$/.exec(target)?.[1]), '127.0.0.1')
    this.tunnels.add(tunnel)
    upstream.once('connect', () => this.#ports.add(upstream.localPort!))
    upstream.on('error', () => tunnel.destroy())
    tunnel.on('error', () => upstream.destroy())
    upstream.on('close', () => tunnel.destroy())
    tunnel.on('close', () => {
      this.tunnels.delete(tunnel)
      upstream.destroy()
    })
    this.#t.after(() => upstream.destroy())
    return upstream
  }

  #onRequest(request: http.IncomingMessage, response: http.ServerResponse): void {
    const asked = { method: request.method!, target: request.url!, headers: request.headers }
    this.forwards.push(asked)
    const verdict = this.#judge(asked)
    if (verdict !== null) {
      response.writeHead(verdict.status, verdict.headers).end(verdict.body)
      return
    }
    const url = new URL(asked.target)
    const { 'proxy-authorization': _, connection: __, ...headers } = request.headers
    const upstream = http.request({
      host: '127.0.0.1',
      port: url.port || 80,
      method: asked.method,
      path: url.pathname + url.search,
      headers,
    })
    upstream.on('socket', (socket) => {
      // One that is used again is connected already.
      if (socket.connecting) socket.once('connect', () => this.#ports.add(socket.localPort!))
    })
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    upstream.on('error', () => response.writeHead(502).end('unreachable'))
    request.pipe(upstream)
  }
}

export async function startProxy(
  t: TestContext,
  wire: ProxyWire,
  options: TestProxyOptions = {},
): Promise<TestProxy> {
  const identity = options.wrongName ? other : localhost
  const server =
    wire === 'h1'
      ? http.createServer()
      : wire === 'h1+tls'
        ? https.createServer({ ...identity, ALPNProtocols: ['http/1.1'] })
        : http2.createSecureServer({ ...identity, allowHTTP1: true, ...options.http2 })
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => {})))
  server.on('tlsClientError', () => {})
  server.on('sessionError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return new TestProxy(t, server as unknown as net.Server, sockets, wire !== 'h1', options)
}
