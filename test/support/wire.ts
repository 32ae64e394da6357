/**
 * Runs one description of a test over every way a client can reach an origin, and through every kind of dispatcher.
 * Servers are the runtime's; the request listener sees equivalent objects with either protocol.
 */
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { describe, type TestContext } from 'node:test'
import type { LifecycleDispatcher } from '../../src/dispatcher/lifecycle.ts'
import {
  Agent,
  type AgentDispatchOptions,
  Client,
  type ClientOptions,
  type ClientStats,
  type DispatchHandler,
  H2CClient,
  type LegacyDispatchHandler,
  Pool,
  type PoolOptions,
  type PoolStats,
} from '../../src/index.ts'
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

/** The runtime's HTTP/2 servers call the same listener with equivalent objects. `options` are for these alone. */
export function createServer(wire: Wire, listener: Listener, options: http2.ServerOptions = {}): Server {
  if (!wire.multiplexes) {
    return wire.secure ? https.createServer(localhost, listener) : http.createServer(listener)
  }
  const compatible = listener as unknown as (
    request: http2.Http2ServerRequest,
    response: http2.Http2ServerResponse,
  ) => void
  return wire.secure
    ? http2.createSecureServer({ ...options, ...localhost }, compatible)
    : (http2.createServer(options, compatible) as unknown as Server)
}

/** Why a wire is left out, by its name. */
export type SkippedWires = Partial<Record<Wire['name'], string>>

/** Describes the same tests once for each wire; `skip` gives the reason why a wire is left out. */
export function overEachWire(title: string, define: (wire: Wire) => void, skip: SkippedWires = {}): void {
  for (const wire of WIRES) {
    const reason = skip[wire.name]
    describe(`${title} over ${wire.name}`, reason === undefined ? {} : { skip: reason }, () => define(wire))
  }
}

export type Kind = 'Client' | 'Pool' | 'Agent'

/** A wire, and the kind of dispatcher that uses it. */
export interface Way extends Wire {
  readonly kind: Kind
}

const KINDS: readonly Kind[] = ['Client', 'Pool', 'Agent']

/** Describes the same tests once for each wire and each kind of dispatcher; `skip` as in `overEachWire`. */
export function overEachWay(title: string, define: (way: Way) => void, skip: SkippedWires = {}): void {
  for (const kind of KINDS) overEachWire(`${title}: ${kind}`, (wire) => define({ ...wire, kind }), skip)
}

/** Leaves out the wires with HTTP/2. */
export function http1Only(reason: string): SkippedWires {
  return { 'h2+tls': reason, h2c: reason }
}

/** Leaves out the wires with HTTP/1.1. */
export function http2Only(reason: string): SkippedWires {
  return { h1: reason, 'h1+tls': reason }
}

/** Options with which a dispatcher reaches the test origins of this wire. */
export function wireOptions(wire: Wire): ClientOptions {
  return { ...(wire.secure ? { connect: { ca: authority } } : null), useH2c: wire.name === 'h2c' }
}

/** A second request waits for the first. */
export const ONE_AT_A_TIME: PoolOptions = { connections: 1, maxConcurrentStreams: 1 }

/** An agent needs the origin with each request; here it is the origin under test. */
class OneOriginAgent extends Agent {
  readonly #origin: string

  constructor(origin: string, options: PoolOptions) {
    super(options as Omit<PoolOptions, 'factory'>)
    this.#origin = origin
  }

  override dispatch(
    options: AgentDispatchOptions,
    handler: DispatchHandler | LegacyDispatchHandler,
  ): boolean {
    const incomplete = typeof options === 'object' && options !== null && !options.origin
    return super.dispatch(incomplete ? { ...options, origin: this.#origin } : options, handler)
  }

  /** The origin's stats, in the shape of a pool's. */
  get own(): ClientStats | PoolStats {
    return this.stats[this.#origin] ?? { connected: 0, free: 0, pending: 0, queued: 0, running: 0, size: 0 }
  }
}

/** The number of requests and connections of any kind of dispatcher. */
export interface Load {
  readonly connected: number
  readonly pending: number
  readonly running: number
  readonly size: number
}

export function loadOf(dispatcher: LifecycleDispatcher): Load {
  const { stats, own } = dispatcher as { stats?: ClientStats | PoolStats; own?: ClientStats | PoolStats }
  const { connected, pending, running, size } = (own ?? stats)!
  return { connected: Number(connected), pending, running, size }
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

export interface WayOrigin extends TestOrigin {
  /** The kind of dispatcher that the way names. `connections` applies to those that can have several. */
  dispatcher(options?: PoolOptions): LifecycleDispatcher
}

/** Starts an origin on a free port; it is closed when the test ends. */
export async function startOrigin(t: TestContext, way: Way, listener: Listener): Promise<WayOrigin>
export async function startOrigin(t: TestContext, wire: Wire, listener: Listener): Promise<TestOrigin>
export async function startOrigin(t: TestContext, wire: Wire | Way, listener: Listener): Promise<WayOrigin> {
  const server = createServer(wire, listener)
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `${wire.secure ? 'https' : 'http'}://localhost:${port}`
  const dispatchers: LifecycleDispatcher[] = []

  t.after(async () => {
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()))
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })

  const trusting = <T extends ClientOptions>(options: T): T => ({
    ...options,
    connect: typeof options.connect === 'function' ? options.connect : { ca: authority, ...options.connect },
  })
  const client = (options: ClientOptions = {}): Client => {
    const made = wire.name === 'h2c' ? new H2CClient(url, options) : new Client(url, trusting(options))
    dispatchers.push(made)
    return made
  }

  return {
    url,
    port,
    server,
    sockets,
    client,
    dispatcher({ connections, ...options } = {}) {
      const { kind } = wire as Way
      if (kind === 'Client') return client(options)
      const shared = trusting({ ...options, connections, useH2c: wire.name === 'h2c' })
      const made = kind === 'Pool' ? new Pool(url, shared) : new OneOriginAgent(url, shared)
      dispatchers.push(made)
      return made
    },
  }
}
