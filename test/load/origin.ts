/**
 * A server for load: HTTP/1.1 and cleartext HTTP/2 on separate ports, or on Unix sockets. The path selects its
 * behaviour: `/ok` answers, `/hold` answers on release, `/silent` never does, `/flood` has a body of `FLOOD_BYTES`. It
 * runs in this process or, to measure memory and to be killed, in a separate one.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { sourceUrl } from '../support/sources.ts'

export const FLOOD_BYTES = 4 * 1024 * 1024

const PIECE = Buffer.alloc(64 * 1024, 'f')

/** A backlog for thousands of connections at once, so that none has to repeat its SYN. */
const BACKLOG = 4096

export interface OriginState {
  /** Open connections. */
  readonly sockets: number
  /** Requests that wait for `release`. */
  readonly held: number
}

export interface Origin {
  readonly h1: string
  readonly h2: string
  state(): Promise<OriginState>
  /** Answers all held requests. */
  release(): Promise<OriginState>
  /** Cuts every connection and refuses new ones. */
  stop(): Promise<void>
}

/** The members used here that both protocols share. */
interface Response {
  write(chunk: Buffer): boolean
  end(text?: string): unknown
  once(event: 'drain', listener: () => void): unknown
}

/** Ports or paths to listen on; port 0 for any. */
export type Places = readonly [h1: number | string, h2: number | string]

export class LocalOrigin implements Origin {
  readonly #servers: readonly [Server, Server]
  readonly #sockets = new Set<Socket>()
  #held: Response[] = []

  private constructor() {
    const listener = (request: { url?: string | undefined }, response: Response): void =>
      this.#answer(request.url ?? '', response)
    const h1 = http.createServer({ keepAlive: true, keepAliveTimeout: 0, requestTimeout: 0 }, listener)
    // The two kinds of requests and responses share all members used here.
    const h2 = http2.createServer(listener as unknown as Parameters<typeof http2.createServer>[1])
    for (const server of [h1, h2]) {
      server.on('connection', (socket: Socket) => {
        this.#sockets.add(socket)
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
      })
      server.on('sessionError', () => {})
    }
    this.#servers = [h1, h2]
  }

  static async start(places: Places = [0, 0]): Promise<LocalOrigin> {
    const origin = new LocalOrigin()
    for (const [i, server] of origin.#servers.entries()) {
      const place = places[i]!
      if (typeof place === 'string') server.listen(place)
      else server.listen(place, '127.0.0.1', BACKLOG)
      await once(server, 'listening')
    }
    return origin
  }

  get h1(): string {
    return urlOf(this.#servers[0])
  }

  get h2(): string {
    return urlOf(this.#servers[1])
  }

  get ports(): Places {
    return [portOf(this.#servers[0]), portOf(this.#servers[1])]
  }

  async state(): Promise<OriginState> {
    await new Promise((resolve) => setImmediate(resolve))
    return { sockets: this.#sockets.size, held: this.#held.length }
  }

  release(): Promise<OriginState> {
    for (const response of this.#held.splice(0)) response.end('released')
    return this.state()
  }

  async stop(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)))
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(closed)
  }

  #answer(path: string, response: Response): void {
    if (path === '/ok') response.end('ok')
    else if (path === '/hold') this.#held.push(response)
    else if (path === '/flood') flood(response, FLOOD_BYTES)
  }
}

function flood(response: Response, bytes: number): void {
  let left = bytes
  while (left > 0) {
    left -= PIECE.length
    if (!response.write(PIECE)) {
      response.once('drain', () => flood(response, left))
      return
    }
  }
  response.end()
}

function portOf(server: Server): number {
  const address = server.address() as AddressInfo | string
  return typeof address === 'string' ? 0 : address.port
}

/** Over a Unix socket the host is only a name. */
function urlOf(server: Server): string {
  return `http://${portOf(server) === 0 ? 'localhost' : `127.0.0.1:${portOf(server)}`}`
}

type Order = 'state' | 'release'

export class ChildOrigin implements Origin {
  readonly h1: string
  readonly h2: string
  readonly ports: Places
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, ports: Places) {
    this.#child = child
    this.ports = ports
    this.h1 = `http://127.0.0.1:${ports[0]}`
    this.h2 = `http://127.0.0.1:${ports[1]}`
  }

  static async start(ports: Places = [0, 0]): Promise<ChildOrigin> {
    const child = fork(new URL(sourceUrl('test/load/origin-process.ts')), ports.map(String))
    const [listening] = (await once(child, 'message')) as [Places]
    return new ChildOrigin(child, listening)
  }

  state(): Promise<OriginState> {
    return this.#order('state')
  }

  release(): Promise<OriginState> {
    return this.#order('release')
  }

  /** Like a machine that crashes: without any notice. */
  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  async #order(order: Order): Promise<OriginState> {
    this.#child.send(order)
    const [state] = (await once(this.#child, 'message')) as [OriginState]
    return state
  }
}
