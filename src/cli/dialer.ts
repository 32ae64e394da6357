/**
 * Opens the connections of a run through the library's own connector and remembers what became of them:
 * protocol, addresses, TLS, when the name was resolved. Also makes the dispatcher that uses it.
 */
import type { Socket } from 'node:net'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import { buildConnector, Client, type ClientOptions, type ConnectFunction, Pool } from '../index.ts'
import { ExchangeError } from './failure.ts'
import type { Options } from './options.ts'
import type { Dial } from './phases.ts'

export interface TlsFacts {
  readonly version: string
  readonly cipher: string
  /** Null: the certificate was verified. */
  readonly problem: string | null
  readonly subject: string
  readonly issuer: string
  readonly validTo: string
}

export interface ConnectionReport {
  readonly protocol: 'http/1.1' | 'h2' | 'h2c'
  /** Null on a Unix socket, as the ports are. */
  readonly remoteAddress: string | null
  readonly remotePort: number | null
  readonly localPort: number | null
  readonly socketPath: string | null
  readonly tls: TlsFacts | null
}

/** PEM files that were named, read. */
export interface TlsFiles {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

/** The library's own. */
const CONNECT_TIMEOUT = 10_000

export class Dialer {
  readonly #options: Options
  readonly #files: TlsFiles
  /** Of each connection that came about. */
  readonly connections: ConnectionReport[] = []
  /** Of the latest connection, as is the socket. */
  dial: Dial | null = null
  socket: Socket | null = null

  constructor(options: Options, files: TlsFiles) {
    this.#options = options
    this.#files = files
  }

  /** For one request at a time, or for many with at most this many connections. */
  open(connections: number | null): Client | Pool {
    const { url, h2c, timeout } = this.#options
    const options: ClientOptions = {
      connect: this.#connect(),
      useH2c: h2c,
      // With a limit for the whole request, none of its parts needs one.
      ...(timeout === null ? {} : { headersTimeout: 0, bodyTimeout: 0 }),
    }
    if (connections === null) return new Client(url.origin, options)
    return new Pool(url.origin, { ...options, connections })
  }

  #connect(): ConnectFunction {
    const { http1, http2, h2c, insecure, timeout } = this.#options
    const connector = buildConnector({
      ...this.#files,
      rejectUnauthorized: !insecure,
      allowH2: !http1,
      preferH2: http2,
      useH2c: h2c,
      socketPath: this.#options['unix-socket'],
      timeout: timeout ?? CONNECT_TIMEOUT,
    })
    return (target, callback) => {
      const started = performance.now()
      let resolved: number | null = null
      const first = connector(target, (error, socket) => {
        if (error !== null) return callback(error)
        const facts = factsOf(socket, this.#options)
        if (http2 && facts.protocol !== 'h2') {
          socket.destroy()
          return callback(new ExchangeError('WRONG_PROTOCOL', 'the server did not choose HTTP/2'))
        }
        this.connections.push(facts)
        this.dial = { started, resolved, switched: socket !== first }
        this.socket = socket
        callback(null, socket)
      })
      first.once('lookup', () => {
        resolved = performance.now()
      })
      return first
    }
  }
}

function factsOf(socket: Socket, options: Options): ConnectionReport {
  const secure = socket instanceof TLSSocket ? socket : null
  return {
    protocol: secure?.alpnProtocol === 'h2' ? 'h2' : options.h2c ? 'h2c' : 'http/1.1',
    remoteAddress: socket.remoteAddress ?? null,
    remotePort: socket.remotePort ?? null,
    localPort: socket.localPort ?? null,
    socketPath: options['unix-socket'] ?? null,
    tls: secure && tlsFactsOf(secure),
  }
}

function tlsFactsOf(socket: TLSSocket): TlsFacts {
  // Empty on a resumed session of some servers.
  const { subject, issuer, valid_to }: Partial<PeerCertificate> = socket.getPeerCertificate()
  return {
    version: String(socket.getProtocol()),
    cipher: socket.getCipher().standardName,
    problem: socket.authorized ? null : String(socket.authorizationError),
    subject: String(subject?.CN ?? subject?.O ?? 'unknown'),
    issuer: String(issuer?.CN ?? issuer?.O ?? 'unknown'),
    validTo: valid_to ?? 'unknown',
  }
}
