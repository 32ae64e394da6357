/** What the tests know of a server that others wrote: how to start it, where it listens, what it can do. */
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
  /** TLS, and a client must show a certificate. Null where the server cannot ask for one. */
  readonly mutual: string | null
}

/**
 * What becomes of something that the backend sends. What is broken on the way has tests of its own, beside
 * those of the server that breaks it.
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
  /** Null when it is not installed. */
  readonly program: string | null
  readonly trailers: Readonly<Record<Wire, Passage>>
  readonly earlyHints: Readonly<Record<Wire, Passage>>
  /** The wires on which it takes a WebSocket to the backend. */
  readonly webSocket: readonly Wire[]
  /** The wires on which it reads a request on while its response is on the way. */
  readonly duplex: readonly Wire[]
  /** The wires on which it answers 411 to a body whose length is not announced. */
  readonly wantsLength?: readonly Wire[]
  /**
   * The wires on which it misreads the head of a request that comes in one piece with RST_STREAM for another, and ends the
   * connection (Apache 2.4.68 with COMPRESSION_ERROR, also for the client of `node:http2`).
   */
  readonly stumblesAtReset?: readonly Wire[]
  /** Takes the client's first offer in ALPN, not its own (RFC 7301 §3.2 wants its own). */
  readonly followsClient?: boolean
  /** Where a client without the right certificate hears of it. */
  readonly refusesIn?: 'handshake' | 'response'
  start(stage: Stage, backend: Backend): Promise<S>
}

/** The client that speaks this to the site. */
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
