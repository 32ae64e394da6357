/**
 * The facts that a client of ours gets from a connector of ours besides the socket. Connectors are public
 * functions that answer with a bare socket, so the client passes this as a further argument, and the
 * connector fills it in; other callers leave it out and get an ordinary socket, which emits `data`.
 */
import type { Duplex } from 'node:stream'
import type { SlabInlet } from './slab-inlet.ts'

export class ConnectDetails {
  /**
   * The connect as long as it is undecided. `abandon` ends it, whichever socket is trying, and returns those.
   */
  pending: { abandon(reason: Error): readonly Duplex[] } | null = null
  /** Called when no request waits for the connection any more; the connector may give the connect up. */
  onUnwanted: (() => void) | null = null
  /** When the TCP connection was up, on the clock of `performance.now()`; a TLS handshake comes later. */
  reachedAt: number | null = null
  /** The proxy that it goes through, without credentials; null for none. */
  proxy: string | null = null
  /** How bytes come in from the connected socket. */
  inlet: SlabInlet | null = null
}
