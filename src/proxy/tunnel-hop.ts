/** A proxy that opens tunnels, with CONNECT or SOCKS. */
import type { Duplex } from 'node:stream'
import type { ProxyPhase } from '../errors.ts'
import type { ConnectorOptions } from '../net/connector.ts'

/** Called once, with an error or a socket. */
export type OnTunnel = (error: Error | null, socket: Duplex | null) => void

/** The attempt to open one tunnel. */
export interface TunnelTry {
  start(): void
  /** It does not call back any more. Returns the sockets that close now. */
  cancel(reason: Error): readonly Duplex[]
}

export interface TunnelHop {
  /** Without user info. */
  readonly uri: string
  /** For errors of the step that opens a tunnel. */
  readonly tunnelPhase: ProxyPhase
  tunnelTo(target: ConnectorOptions, answer: OnTunnel): TunnelTry
}
