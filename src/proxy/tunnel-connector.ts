/**
 * The connector for targets: a tunnel through the first proxy of a list that opens one, and TLS inside it for
 * https targets.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { asciiHost } from '../base/address/server-name.ts'
import { now } from '../base/loop/clock.ts'
import { discardSocket } from '../base/node/discard-socket.ts'
import { loadNet } from '../base/node/lazy-modules.ts'
import { ownMembers } from '../base/object/own-options.ts'
import { type DetailedConnector, ownConnector } from '../dispatcher/client-connector.ts'
import type { ConnectFunction } from '../dispatcher/client-options.ts'
import { InformationalError, InvalidArgumentError, SocketError } from '../errors.ts'
import { portOf } from '../guard/place.ts'
import { ConnectDetails } from '../net/connect-details.ts'
import { buildClientConnector, type ClientConnector, type ConnectorOptions } from '../net/connector.ts'
import { reclaimInlet } from '../net/slab-inlet.ts'
import {
  checkTarget,
  type ProxiedTarget,
  type TargetCheckSettings,
  targetCheck,
} from '../net/target-check.ts'
import { withProxy } from './proxy-error.ts'
import type { Socks5Settings } from './socks5-options.ts'
import type { TunnelHop } from './tunnel-hop.ts'

type Callback = Parameters<ConnectFunction>[1]

/** Opens TLS on a tunnel. */
interface Inside {
  readonly hops: readonly TunnelHop[]
  /** Plain targets speak HTTP/2, whose servers send first (RFC 9113 §3.4). */
  readonly isH2c: boolean
  readonly secure: ClientConnector
  /** undefined: the request's. */
  readonly servername: string | null | undefined
  /** Null for targets that nothing guards. */
  readonly check: TargetCheckSettings | null
}

/** The hops are tried in this order. */
export function tunnelConnector(hops: readonly TunnelHop[], settings: Socks5Settings): ConnectFunction {
  const { requestTls, requestServername: servername, isH2c } = settings
  // A connector inside a tunnel connects to nothing: the target is checked before the tunnel is opened.
  const tls = { ...requestTls, guard: null }
  const check = targetCheck(requestTls)
  const any: Inside = { hops, secure: buildClientConnector(tls), servername, isH2c, check }
  const http1: Inside = { ...any, secure: buildClientConnector({ ...tls, allowH2: false }) }
  const connectorFor =
    (inside: Inside): DetailedConnector =>
    (target, callback, details) =>
      new TunnelConnect(inside, target, callback, details ?? null).start()
  const presented = servername || ownMembers(tls).servername || null
  return ownConnector(connectorFor(any), connectorFor(http1), presented)
}

class TunnelConnect {
  readonly #inside: Inside
  readonly #target: ConnectorOptions
  readonly #callback: Callback
  readonly #details: ConnectDetails
  /** False for a dispatcher of another library, which reads the `data` events of the socket. */
  readonly #readsInlets: boolean
  #next = 0

  constructor(inside: Inside, target: ConnectorOptions, callback: Callback, details: ConnectDetails | null) {
    this.#inside = inside
    this.#target = target
    this.#callback = callback
    this.#details = details ?? new ConnectDetails()
    this.#readsInlets = details !== null
  }

  start(): void {
    const { check } = this.#inside
    const hostname = asciiHost(this.#target.hostname)
    if (hostname === null) this.#answer(new InvalidArgumentError('invalid hostname'))
    else if (check === null) this.#tryNext(this.#target)
    else this.#check(check, { hostname, port: portOf(this.#target) })
  }

  #check(check: TargetCheckSettings, target: ProxiedTarget): void {
    let isChecked = false
    const cancel = checkTarget(check, target, 'address', (error, address) => {
      isChecked = true
      this.#settle()
      if (error !== null) this.#answer(error)
      // The proxy gets the address that was checked: it might find another one for the name.
      else this.#tryNext(address === null ? this.#target : { ...this.#target, hostname: address })
    })
    if (isChecked) return
    this.#wait(() => {
      cancel()
      return []
    })
  }

  /** `abandon` ends what the tunnel waits for, and returns the sockets that close. */
  #wait(abandon: (reason: Error) => readonly Duplex[]): void {
    this.#details.pending = { abandon }
    this.#details.onUnwanted = () => {
      abandon(new InformationalError('aborted'))
      this.#answer(new InformationalError('the tunnel was cancelled: no request waits for it'))
    }
  }

  #tryNext(target: ConnectorOptions): void {
    const { hops } = this.#inside
    const hop = hops[this.#next++]!
    this.#details.proxy = hop.uri
    const attempt = hop.tunnelTo(target, (error, socket) => {
      if (socket !== null) this.#onTunnel(hop, socket)
      // Nothing of the request was sent, so another proxy may be tried.
      else if (this.#next < hops.length) this.#tryNext(target)
      else this.#answer(error!)
    })
    this.#wait((reason) => attempt.cancel(reason))
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
      // The client would take what TLS to the proxy has negotiated for the target's protocol.
      if ('alpnProtocol' in socket) Reflect.set(socket, 'alpnProtocol', false)
      if (this.#readsInlets) this.#details.inlet = reclaimInlet(socket)
      this.#callback(null, socket)
    } else {
      // An HTTP/1.1 server sends nothing before a request: these bytes answer none of ours.
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

/** The runtime passes them on only to a `net.Socket`, and an idle tunnel would keep the process alive. */
function passReferences(socket: object, tunnel: Duplex & Partial<Pick<Socket, 'ref' | 'unref'>>): void {
  for (const name of ['ref', 'unref'] as const) {
    Reflect.set(socket, name, () => {
      tunnel[name]?.()
      return socket
    })
  }
}
