/**
 * Opens the connections of a run through the library's own connector and remembers what became of them:
 * protocol, addresses, TLS, when the name was resolved. Also makes the dispatcher that uses it.
 */
import type { Socket } from 'node:net'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import {
  Agent,
  type BuildConnectorOptions,
  buildConnector,
  type ClientOptions,
  type ConnectFunction,
  type EnvHttpProxyAgent,
  type EnvHttpProxyAgentOptions,
} from '../index.ts'
import { exchangeError } from './failure.ts'
import type { Options } from './options.ts'
import type { Dial } from './phases.ts'
import { openProxied, type ProxyFacts, watchConnections } from './proxied-dialer.ts'

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
  /** `dial` and `socket` belong to the latest connection. */
  dial: Dial | null = null
  socket: Socket | null = null
  /** What is to be done when the run is over. */
  readonly #ends: (() => unknown)[] = []

  constructor(options: Options, files: TlsFiles) {
    this.#options = options
    this.#files = files
  }

  /** `connections` is the limit for one origin. */
  open(connections: number): Agent | EnvHttpProxyAgent {
    const { h2c, timeout } = this.#options
    const common: ClientOptions = {
      useH2c: h2c,
      // With a limit for the whole request, none of its parts needs one.
      ...(timeout === null ? {} : { headersTimeout: 0, bodyTimeout: 0 }),
    }
    const proxied = this.#openProxied(common, connections)
    return proxied ?? new Agent({ ...common, connections, connect: this.#connect() })
  }

  /** To be called when the run is over. */
  end(): void {
    for (const end of this.#ends) end()
  }

  #openProxied(common: ClientOptions, connections: number): EnvHttpProxyAgent | null {
    const { http1, http2, insecure, timeout } = this.#options
    const settings = {
      ...common,
      connections,
      allowH2: !http1,
      connectTimeout: timeout ?? CONNECT_TIMEOUT,
      requestTls: { ...this.#files, rejectUnauthorized: !insecure, preferH2: http2 },
    }
    const opened = openProxied(this.#options, settings, this.#files.ca ?? null)
    if (opened === null) return null
    let started = performance.now()
    const onStart = (): void => {
      started = performance.now()
    }
    const onConnected = (socket: Socket): void => {
      const problem = this.#note(socket, { started, resolved: null, switched: false }, opened.proxy)
      if (problem !== null) socket.destroy(problem)
    }
    this.#ends.push(watchConnections(opened.host, onStart, onConnected))
    return this.#apart(opened.agent, settings)
  }

  /** A client certificate is for the origin of the URL only: the server chooses where a redirect leads. */
  #isOwn(origin: string | URL): boolean {
    return new URL(origin).origin === this.#options.url.origin
  }

  /** Through a proxy, connections to other origins have an agent of their own. */
  #apart(agent: EnvHttpProxyAgent, settings: EnvHttpProxyAgentOptions): EnvHttpProxyAgent {
    const { ca, cert } = this.#files
    if (cert === undefined || !this.#options.location) return agent
    const { cert: _cert, key: _key, ...requestTls } = settings.requestTls as TlsFiles
    const opened = openProxied(this.#options, { ...settings, requestTls }, ca ?? null)!
    this.#ends.push(() => opened.agent.destroy())
    return agent.compose(
      (dispatch) => (opts, handler) =>
        this.#isOwn(opts.origin!) ? dispatch(opts, handler) : opened.agent.dispatch(opts as never, handler),
    ) as unknown as EnvHttpProxyAgent
  }

  /** Returns why the connection cannot be used; null if it can. */
  #note(socket: Socket, dial: Dial, proxy: ProxyFacts | null): Error | null {
    const facts = factsOf(socket, this.#options, proxy)
    if (this.#options.http2 && facts.protocol !== 'h2') {
      return exchangeError('WRONG_PROTOCOL', 'the server did not choose HTTP/2')
    }
    this.connections.push(facts)
    this.dial = dial
    this.socket = socket
    return null
  }

  #connect(): ConnectFunction {
    const { http1, http2, h2c, insecure, timeout } = this.#options
    const { ca } = this.#files
    const common: BuildConnectorOptions = {
      ...(ca && { ca }),
      rejectUnauthorized: !insecure,
      allowH2: !http1,
      preferH2: http2,
      useH2c: h2c,
      socketPath: this.#options['unix-socket'],
      timeout: timeout ?? CONNECT_TIMEOUT,
    }
    const own = buildConnector({ ...common, ...this.#files })
    const others = buildConnector(common)
    return (target, callback) => {
      const connector = this.#isOwn(`${target.protocol}//${target.host}`) ? own : others
      const started = performance.now()
      let resolved: number | null = null
      const first = connector(target, (error, socket) => {
        if (error !== null) return callback(error)
        const problem = this.#note(socket, { started, resolved, switched: socket !== first }, null)
        if (problem === null) return callback(null, socket)
        socket.destroy()
        callback(problem)
      })
      first.once('lookup', () => {
        resolved = performance.now()
      })
      return first
    }
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
