/** One SOCKS 5 proxy of an agent: opens its connections, and counts its tunnels. */
import type { Duplex } from 'node:stream'
import type { ConnectFunction } from '../dispatcher/client-options.ts'
import type { PoolStats } from '../dispatcher/stats.ts'
import { SocketError } from '../errors.ts'
import type { ConnectDetails } from '../net/connect-details.ts'
import { buildStreamConnector, type ClientConnector, type ConnectorOptions } from '../net/connector.ts'
import { dialError } from './proxy-error.ts'
import type { Socks5Address } from './socks5-address.ts'
import { Socks5Attempt, type Socks5Proxy } from './socks5-attempt.ts'
import type { Socks5DialSettings } from './socks5-options.ts'
import type { OnTunnel, TunnelHop } from './tunnel-hop.ts'

export class Socks5Hop implements TunnelHop, Socks5Proxy {
  readonly address: Socks5Address
  readonly timeout: number
  readonly tunnelPhase = 'socks-request'
  readonly #isSecure: boolean
  readonly #dial: ClientConnector
  /** A function of the caller that opens the connections. */
  readonly #callersDial: ConnectFunction | null
  #attempts = 0
  #tunnels = 0

  constructor(address: Socks5Address, { isSecure, options, connect, timeout }: Socks5DialSettings) {
    this.address = address
    this.timeout = timeout
    this.#isSecure = isSecure
    this.#dial = buildStreamConnector(options)
    this.#callersDial = connect
  }

  get uri(): string {
    return this.address.uri
  }

  get dialHasLimit(): boolean {
    return this.#callersDial === null
  }

  tunnelTo(target: ConnectorOptions, answer: OnTunnel): Socks5Attempt {
    this.#attempts++
    return new Socks5Attempt(this, target, answer)
  }

  dial(localAddress: string | null, details: ConnectDetails, callback: OnTunnel): void {
    const { hostname, host, port } = this.address
    const protocol = this.#isSecure ? 'https:' : 'http:'
    const target = { hostname, host, port: String(port), protocol, localAddress }
    if (this.#callersDial !== null) {
      this.#callersDial(target, (error, socket) => {
        if (socket && !error) callback(null, socket)
        else callback(error || new SocketError('the connector delivered no socket'), null)
      })
      return
    }
    const onDialed: Parameters<ClientConnector>[1] = (error, socket) => {
      if (error === null || error === undefined) callback(null, socket)
      else callback(dialError(error, this.uri, this.#isSecure && details.reachedAt !== null), null)
    }
    this.#dial(target, onDialed, details)
  }

  onOver(socket: Duplex | null): void {
    this.#attempts--
    if (socket === null) return
    this.#tunnels++
    socket.once('close', () => {
      this.#tunnels--
    })
  }

  /** Tunnels, and those that are being opened. */
  addStats(sum: PoolStats): void {
    sum.connected += this.#tunnels
    sum.pending += this.#attempts
    sum.size += this.#attempts
  }
}
