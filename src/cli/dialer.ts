/**
 * Opens the connections of a run through the library's own connector and remembers what became of them:
 * protocol, addresses, TLS, when the name was resolved. Also makes the dispatcher that uses it.
 */
import { lookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import { Agent, type BuildConnectorOptions, type ClientOptions, type EnvHttpProxyAgent } from '../index.ts'
import { exchangeError, type Stage } from './failure.ts'
import type { Options } from './options.ts'
import type { Dial } from './phases.ts'
import { type ConnectParams, openProxied, type ProxyFacts, watchConnections } from './proxied-dialer.ts'

export type ConnectionReport = Readonly<ReturnType<typeof factsOf>>

/** The contents of PEM files. */
export type TlsFiles = Readonly<Partial<Record<'ca' | 'cert' | 'key', Buffer>>>

/** As in the library. */
const CONNECT_TIMEOUT = 10_000

export class Dialer {
  readonly #options: Options
  readonly #files: TlsFiles
  /** One for each connection that was opened. */
  readonly connections: ConnectionReport[] = []
  /** Of the latest connection. */
  dial: Dial | null = null
  #dialed: { started: number; resolved: number | null } = { started: 0, resolved: null }
  #port = ''
  readonly #sockets = new WeakSet<object>()
  /** What is to be done when the run is over. */
  readonly #ends: (() => unknown)[] = []

  constructor(options: Options, files: TlsFiles) {
    this.#options = options
    this.#files = files
  }

  get isCleartextH2(): boolean {
    return this.#options.h2c
  }

  /** What a request that has no response waits for. */
  get stage(): Stage {
    return this.connections.length === 0 ? 'connecting' : 'waiting for the response'
  }

  /** Whether it is a connection of this run. */
  owns(socket: object): boolean {
    return this.#sockets.has(socket)
  }

  /** `connections` is the limit for one origin. */
  open(connections: number): Agent | EnvHttpProxyAgent {
    const { cert, ...others } = this.#files
    const agent = this.#agent(connections, this.#files)
    if (cert === undefined || !this.#options.location) return agent
    // A client certificate is for the origin of the URL only: the server chooses where a redirect leads.
    const { key: _, ...files } = others
    const stranger = this.#agent(connections, files)
    this.#ends.push(() => stranger.destroy())
    return agent.compose((dispatch) => (opts, handler) => {
      const isOwn = new URL(opts.origin!).origin === this.#options.url.origin
      return isOwn ? dispatch(opts, handler) : stranger.dispatch(opts as never, handler)
    }) as unknown as Agent
  }

  /** To be called when the run is over. */
  end(): void {
    for (const end of this.#ends) end()
  }

  #agent(connections: number, files: TlsFiles): Agent | EnvHttpProxyAgent {
    const { http1, http2, h2c, insecure, timeout, ipv4, ipv6 } = this.#options
    const connectTimeout = this.#options['connect-timeout'] ?? timeout ?? CONNECT_TIMEOUT
    const common: ClientOptions & { connections: number } = {
      useH2c: h2c,
      connections,
      allowH2: !http1,
      // With a limit for the whole request, none of its parts needs one.
      ...(timeout === null ? {} : { headersTimeout: 0, bodyTimeout: 0 }),
    }
    const tls = { ...files, rejectUnauthorized: !insecure, preferH2: http2 }
    const settings = { ...common, connectTimeout, requestTls: tls }
    const proxied = openProxied(this.#options, settings, files.ca ?? null)
    this.#watch(proxied?.host ?? null, proxied?.proxy ?? null)
    if (proxied !== null) return proxied.agent
    const connect: BuildConnectorOptions = {
      ...tls,
      socketPath: this.#options['unix-socket'],
      timeout: connectTimeout,
      lookup: this.#lookup,
      ...((ipv4 || ipv6) && { family: ipv4 ? 4 : 6 }),
    }
    return new Agent({ ...common, connect })
  }

  /** Connections to this host; null for any. */
  #watch(host: string | null, proxy: ProxyFacts | null): void {
    if (this.#ends.length > 0) return
    const onStart = (to: ConnectParams): void => {
      this.#dialed = { started: performance.now(), resolved: null }
      this.#port = to.port || (to.protocol === 'https:' ? '443' : '80')
    }
    const onConnected = (socket: Socket): void => {
      const problem = this.#note(socket, this.#dialed, proxy)
      if (problem !== null) socket.destroy(problem)
    }
    this.#ends.push(watchConnections(host, onStart, onConnected))
  }

  /** As the system resolves names, but for those of `--resolve`. Certificates are for the name. */
  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    const { resolve } = this.#options
    const dialed = this.#dialed
    const name = hostname.toLowerCase()
    const address = resolve.get(`${name}:${this.#port}`) ?? resolve.get(`*:${this.#port}`)
    const done = ((...answer: Parameters<typeof callback>) => {
      dialed.resolved = performance.now()
      callback(...answer)
    }) as typeof callback
    if (address === undefined) lookup(hostname, options, done)
    else if (options.all) done(null, [{ address, family: isIP(address) }])
    else done(null, address, isIP(address))
  }

  /** Returns why the connection cannot be used; null if it can. */
  #note(socket: Socket, dial: Dial, proxy: ProxyFacts | null): Error | null {
    const facts = factsOf(socket, this.#options, proxy)
    if (this.#options.http2 && facts.protocol !== 'h2') {
      return exchangeError('WRONG_PROTOCOL', 'the server did not choose HTTP/2')
    }
    this.connections.push(facts)
    this.dial = dial
    this.#sockets.add(socket)
    return null
  }
}

function factsOf(socket: Socket, options: Options, proxy: ProxyFacts | null) {
  const secure = socket instanceof TLSSocket ? socket : null
  const protocol: 'http/1.1' | 'h2' | 'h2c' =
    secure?.alpnProtocol === 'h2' ? 'h2' : options.h2c ? 'h2c' : 'http/1.1'
  return {
    protocol,
    // Null on a Unix socket, as the ports are. With a proxy, the addresses are those of the proxy.
    remoteAddress: socket.remoteAddress ?? null,
    remotePort: socket.remotePort ?? null,
    localPort: socket.localPort ?? null,
    socketPath: options['unix-socket'] ?? null,
    proxy,
    tls: secure && tlsFactsOf(secure),
  }
}

function tlsFactsOf(socket: TLSSocket) {
  // Empty on a resumed session of some servers.
  const { subject, issuer, valid_to }: Partial<PeerCertificate> = socket.getPeerCertificate()
  return {
    version: String(socket.getProtocol()),
    cipher: socket.getCipher().standardName,
    // Null: the certificate was verified.
    problem: socket.authorized ? null : String(socket.authorizationError),
    subject: String(subject?.CN ?? subject?.O ?? 'unknown'),
    issuer: String(issuer?.CN ?? issuer?.O ?? 'unknown'),
    validTo: valid_to ?? 'unknown',
  }
}
