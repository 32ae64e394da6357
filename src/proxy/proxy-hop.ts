/**
 * One proxy as an agent uses it: how its connections are opened, the dispatchers that send CONNECT and
 * forwarded requests to it, and the fields that it gets.
 */

import { serverNameOf } from '../base/address/server-name.ts'
import { withoutRejection } from '../base/loop/stray-promise.ts'
import { ownMembers } from '../base/object/own-options.ts'
import { type DetailedConnector, ownConnector } from '../dispatcher/client-connector.ts'
import type { ConnectFunction } from '../dispatcher/client-options.ts'
import type { Dispatcher } from '../dispatcher/dispatcher.ts'
import { ConnectionLimit, type ConnectionLimitSettings } from '../dispatcher/places/connection-limit.ts'
import { limited } from '../dispatcher/places/limit-options.ts'
import type { PoolOptions } from '../dispatcher/pool/options.ts'
import { Pool } from '../dispatcher/pool/pool.ts'
import { buildClientConnector } from '../net/connector.ts'
import type { HttpProxyAddress } from './proxy-address.ts'
import { dialError } from './proxy-error.ts'
import { ProxyFields } from './proxy-fields.ts'
import type { ProxySettings } from './proxy-options.ts'

const NO_IDLE_ONES: ConnectionLimitSettings = {
  maxConnections: Number.POSITIVE_INFINITY,
  maxIdleConnections: 0,
  maxConnectionsWait: Number.POSITIVE_INFINITY,
}

export class ProxyHop {
  readonly address: HttpProxyAddress
  readonly fields: ProxyFields
  /** For TLS to the proxy, where the `host` of a request, which is the target's, must not be used. */
  readonly servername: string
  readonly settings: ProxySettings
  readonly #connect: ConnectFunction
  readonly #connectHttp1: ConnectFunction
  readonly #onMade: (forwarding: Dispatcher) => void
  #tunnelling: Dispatcher | null = null
  #forwarding: Dispatcher | null = null

  /** `onMade` is called with the dispatcher for forwarded requests. */
  constructor(address: HttpProxyAddress, settings: ProxySettings, onMade: (forwarding: Dispatcher) => void) {
    const { dial, headers, token, auth } = settings
    const { options: proxyTls, connect: connectProxy } = dial
    const { origin } = address
    this.address = address
    this.fields = new ProxyFields(headers, token, auth, address.authorization)
    this.servername = ownMembers(proxyTls).servername || serverNameOf(origin.host) || origin.hostname
    this.settings = settings
    this.#onMade = onMade
    if (connectProxy === null) {
      const http1 = dialer(address, { ...proxyTls, allowH2: false })
      this.#connect = ownConnector(dialer(address, proxyTls), http1)
      this.#connectHttp1 = http1 as ConnectFunction
    } else {
      this.#connect = connectProxy
      this.#connectHttp1 = connectProxy
    }
  }

  get uri(): string {
    return this.address.uri
  }

  /** Takes CONNECT. Over HTTP/2 all tunnels share its connections (RFC 9113 §8.5). */
  get tunnelling(): Dispatcher {
    if (this.#tunnelling === null) {
      const { agentOptions, limit } = this.settings
      const { maxHeaderSize } = ownMembers(agentOptions)
      // Tunnels are counted, and a connection that has none left would not be.
      const carriers = limit === null ? null : new ConnectionLimit(NO_IDLE_ONES)
      this.#tunnelling = this.#make(limited({ maxHeaderSize, connect: this.#connect }, carriers))
    }
    return this.#tunnelling
  }

  /** Takes requests with the whole URL, to any origin. Only HTTP/1.1 has that form (RFC 9112 §3.2.2). */
  get forwarding(): Dispatcher {
    if (this.#forwarding === null) {
      const { agentOptions, keepsAlive, limit } = this.settings
      const { factory: _factory, maxOrigins: _maxOrigins, ...options } = agentOptions
      const pipelining = keepsAlive ? ownMembers(options).pipelining : 0
      const own = { ...options, pipelining, allowH2: false, connect: this.#connectHttp1 }
      this.#forwarding = this.#make(limited(own, limit))
      this.#onMade(this.#forwarding)
    }
    return this.#forwarding
  }

  /** Those that exist. */
  get dispatchers(): { readonly tunnelling: Dispatcher | null; readonly forwarding: Dispatcher | null } {
    return { tunnelling: this.#tunnelling, forwarding: this.#forwarding }
  }

  #make(options: PoolOptions & { connect: ConnectFunction }): Dispatcher {
    const { clientFactory } = this.settings
    const { url } = this.address.origin
    return clientFactory === null
      ? new Pool(url, options)
      : withoutRejection(clientFactory(url, { connect: options.connect }))
  }
}

type ConnectorOptions = Parameters<typeof buildClientConnector>[0]

/** Opens connections to the proxy. Its errors have the field `proxy`. */
function dialer({ uri, origin }: HttpProxyAddress, options: ConnectorOptions): DetailedConnector {
  const connector = buildClientConnector(options)
  const isSecure = origin.protocol === 'https:'
  return (target, callback, details) =>
    connector(
      // The connector takes the name from the options or the host; an IP address is not one (RFC 6066 §3).
      { ...target, servername: null },
      (error, socket) => {
        if (error === null || error === undefined) {
          callback(null, socket)
          return
        }
        // A dispatcher of another library passes no details; errors of the system have a `syscall`.
        const hasReached = details === undefined ? !('syscall' in error) : details.reachedAt !== null
        callback(dialError(error, uri, isSecure && hasReached), null)
      },
      details,
    )
}
