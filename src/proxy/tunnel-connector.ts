/**
 * Opens the connections to targets: a tunnel through the first proxy of a list that opens one, and inside it what the target
 * speaks. To the dispatchers above it is a connector like any other.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { discardSocket } from '../api/socket-handler.ts'
import { now } from '../base/clock.ts'
import { loadNet } from '../base/lazy-modules.ts'
import { asciiHost } from '../base/server-name.ts'
import { type DetailedConnector, ownConnector } from '../dispatcher/client-connector.ts'
import type { ConnectFunction } from '../dispatcher/client-options.ts'
import { InformationalError, InvalidArgumentError, SocketError } from '../errors.ts'
import { ConnectDetails } from '../net/connect-details.ts'
import {
  type BuildConnectorOptions,
  buildClientConnector,
  type ClientConnector,
  type ConnectorOptions,
} from '../net/connector.ts'
import { withProxy } from './proxy-error.ts'
import type { TunnelHop } from './tunnel-hop.ts'

type Callback = Parameters<ConnectFunction>[1]

/** Opens TLS on a tunnel. */
interface Inside {
  readonly isH2c: boolean
  readonly secure: ClientConnector
  /** undefined: the request's. */
  readonly servername: string | null | undefined
}

/** For the connections inside tunnels. */
export interface InsideSettings {
  readonly requestTls: BuildConnectorOptions
  /** undefined: a request chooses its server name. */
  readonly requestServername: string | null | undefined
  /** Plain targets speak HTTP/2, whose servers begin to speak without being asked (RFC 9113 §3.4). */
  readonly isH2c: boolean
}

/** `hops` are tried in their order. */
export function tunnelConnector(hops: readonly TunnelHop[], settings: InsideSettings): ConnectFunction {
  const { requestTls, requestServername: servername, isH2c } = settings
  const any: Inside = { secure: buildClientConnector(requestTls), servername, isH2c }
  const http1: Inside = { secure: buildClientConnector({ ...requestTls, allowH2: false }), servername, isH2c }
  const connectorFor =
    (inside: Inside): DetailedConnector =>
    (target, callback, details = new ConnectDetails()) =>
      new TunnelConnect(hops, inside, target, callback, details).start()
  return ownConnector(connectorFor(any), connectorFor(http1))
}

class TunnelConnect {
  readonly #hops: readonly TunnelHop[]
  readonly #inside: Inside
  readonly #target: ConnectorOptions
  readonly #callback: Callback
  readonly #details: ConnectDetails
  #next = 0

  constructor(
    hops: readonly TunnelHop[],
    inside: Inside,
    target: ConnectorOptions,
    callback: Callback,
    details: ConnectDetails,
  ) {
    this.#hops = hops
    this.#inside = inside
    this.#target = target
    this.#callback = callback
    this.#details = details
  }

  start(): void {
    if (asciiHost(this.#target.hostname) === null) this.#answer(new InvalidArgumentError('invalid hostname'))
    else this.#tryNext()
  }

  #tryNext(): void {
    const hop = this.#hops[this.#next++]!
    const attempt = hop.tunnelTo(this.#target, (error, socket) => {
      if (socket !== null) this.#onTunnel(hop, socket)
      // Nothing of the request has left, so another proxy may be asked.
      else if (this.#next < this.#hops.length) this.#tryNext()
      else this.#answer(error!)
    })
    this.#details.pending = { abandon: (reason) => attempt.cancel(reason) }
    this.#details.onUnwanted = () => {
      attempt.cancel(new InformationalError('aborted'))
      this.#answer(new InformationalError('the tunnel was cancelled: no request waits for it'))
    }
    attempt.start()
  }

  #answer(error: Error): void {
    this.#settle()
    this.#callback(error)
  }

  #settle(): void {
    this.#details.pending = null
    this.#details.onUnwanted = null
  }

  #onTunnel(hop: TunnelHop, socket: Duplex): void {
    this.#settle()
    this.#details.reachedAt = now()
    if (this.#target.protocol === 'https:') this.#secure(hop, socket)
    else if (socket.readableLength === 0 || this.#inside.isH2c) {
      // What TLS to the proxy has negotiated is not about the target, whose client reads it there.
      if ('alpnProtocol' in socket) Reflect.set(socket, 'alpnProtocol', false)
      this.#callback(null, socket)
    } else {
      // The target speaks only when it is spoken to: these bytes answer no request of ours.
      discardSocket(socket)
      this.#answer(withProxy(new SocketError('bad response'), hop.uri, hop.tunnelPhase))
    }
  }

  #secure(hop: TunnelHop, httpSocket: Duplex): void {
    const { secure, servername = this.#target.servername } = this.#inside
    const { reachedAt } = this.#details
    secure(
      { ...this.#target, servername, httpSocket },
      (error, socket) => {
        this.#details.reachedAt = reachedAt
        if (error === null || error === undefined) {
          if (!(httpSocket instanceof loadNet().Socket)) passReferences(socket, httpSocket)
          this.#callback(null, socket)
          return
        }
        discardSocket(httpSocket)
        this.#answer(withProxy(error, hop.uri, 'target-tls'))
      },
      this.#details,
    )
  }
}

/** The runtime passes them on only to a socket of its own, and an idle tunnel would keep the process alive. */
function passReferences(socket: object, tunnel: Duplex & Partial<Pick<Socket, 'ref' | 'unref'>>): void {
  Object.assign(socket, {
    ref: () => {
      tunnel.ref?.()
      return socket
    },
    unref: () => {
      tunnel.unref?.()
      return socket
    },
  })
}
