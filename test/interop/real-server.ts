/** A third-party server as the tests see it: how to start it, where it listens, what it supports. */
import { Client, type ClientOptions, H2CClient } from '../../src/index.ts'
import type { Backend } from './backend.ts'
import { TRUST } from './certificate-files.ts'
import type { ServerProcess } from './server-process.ts'
import type { Stage } from './stage.ts'

export type Wire = 'h1' | 'h1+tls' | 'h2' | 'h2c'

export const WIRES: readonly Wire[] = ['h1', 'h1+tls', 'h2', 'h2c']

export const multiplexes = (wire: Wire): boolean => wire.startsWith('h2')

/** Origins of a running server: files at the root, the backend below `/backend/`. */
export interface Site {
  readonly process: ServerProcess
  readonly h1: string
  readonly tls: string
  readonly h2c: string
  /** TLS with a required client certificate. Null if the server cannot ask for one. */
  readonly mutual: string | null
}

/**
 * Whether something that the backend sends arrives unchanged. A server that breaks it has separate tests beside its
 * common ones.
 */
export type Passage = 'passed' | 'dropped' | 'broken'

export const onEvery = (passage: Passage): Readonly<Record<Wire, Passage>> => ({
  h1: passage,
  'h1+tls': passage,
  h2: passage,
  h2c: passage,
})

export interface RealServer<S extends Site = Site> {
  readonly name: string
  /** Null if it is not installed. */
  readonly program: string | null
  readonly trailers: Readonly<Record<Wire, Passage>>
  readonly earlyHints: Readonly<Record<Wire, Passage>>
  /** The wires on which it forwards a WebSocket to the backend. */
  readonly webSocket: readonly Wire[]
  /** The wires on which it keeps reading a request while it sends the response. */
  readonly duplex: readonly Wire[]
  /** The wires on which it answers 411 to a body of unannounced length. */
  readonly wantsLength?: readonly Wire[]
  /**
   * The wires on which it misreads the head of a request that arrives in one piece with RST_STREAM for another, and ends
   * the connection (Apache 2.4.68 with COMPRESSION_ERROR, for the client of `node:http2`, too).
   */
  readonly stumblesAtReset?: readonly Wire[]
  /**
   * The wires on which it sometimes ends a response early when the backend answers in the moment in which the request
   * ends: about one of 300 echoes (Caddy 2.6.2, which logs that it closed its own connection to the backend; the client
   * of `node:https` sees the same).
   */
  readonly breaksEchoes?: readonly Wire[]
  /** The content codings that it makes, each with the path of a text that it encodes. */
  readonly codings?: Readonly<Record<string, readonly string[]>>
  /** The wires on which it asks for a body that waits for that (RFC 9110 §10.1.1). On others it stays silent. */
  readonly asksForBodies?: readonly Wire[]
  /** A path whose requests it refuses by their head, and the wires on which it then does not ask for the body. */
  readonly refusal?: { readonly path: string; readonly status: number; readonly wires: readonly Wire[] }
  /** Selects by the client's order in ALPN, not by its own (RFC 7301 §3.2 requires its own). */
  readonly followsClient?: boolean
  /** Where a client without the right certificate gets the error. */
  readonly refusesIn?: 'handshake' | 'response'
  start(stage: Stage, backend: Backend): Promise<S>
}

/** The client that uses this wire to the site. */
export function openClient(
  server: RealServer,
  site: Site,
  wire: Wire,
  options: Omit<ClientOptions, 'connect'> = {},
): Client {
  switch (wire) {
    case 'h1':
      return new Client(site.h1, options)
    case 'h1+tls':
      return new Client(site.tls, { connect: TRUST, allowH2: false, ...options })
    case 'h2':
      return new Client(site.tls, {
        connect: { ...TRUST, preferH2: server.followsClient ?? false },
        ...options,
      })
    case 'h2c': {
      const { pipelining: _, ...rest } = options
      return new H2CClient(site.h2c, rest as ConstructorParameters<typeof H2CClient>[1])
    }
  }
}
