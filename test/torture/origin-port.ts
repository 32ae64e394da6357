/**
 * The base of the origins of the torture and chaos runs: the server's end of one connection, in memory or as a real
 * socket, and one request on it, with either protocol.
 */

/** The server's end of a connection. */
export interface OriginPort {
  /** Set by the protocol code that uses it. */
  onBytes: (bytes: Buffer) => void
  /** The client has ended or lost its side. */
  onGone: () => void
  readonly isOpen: boolean
  send(bytes: Buffer): void
  /** Sends FIN after the pending output. */
  end(): void
  /** Sends RST; undelivered output is lost. */
  reset(): void
}

/** A request as an origin sees it, and the ways to answer. */
export interface OriginExchange {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The received part of the request's body. */
  readonly received: Buffer[]
  /** The trailers after it. */
  readonly trailers: Readonly<Record<string, string>>
  /** The whole request has arrived. */
  readonly isComplete: boolean
  /** Neither side has aborted it. */
  readonly isOpen: boolean
  readonly isAnswered: boolean
  onBody: (bytes: Buffer) => void
  onComplete: () => void
  interim(status: number): void
  head(status: number, fields?: Readonly<Record<string, string>>): void
  write(bytes: Buffer | string): void
  /** The same with each byte in a chunk or frame of its own, all of them sent together. */
  writeSingles(bytes: Buffer | string): void
  end(trailers?: Readonly<Record<string, string>>): void
  /** A complete response. */
  respond(status: number, body: Buffer | string): void
  /** Grants an upgrade or CONNECT: from here on `write` and `onBody` are the tunnel's. */
  grant(fields?: Readonly<Record<string, string>>): void
}

/** Called when a request's head has arrived. */
export type OriginScript = (exchange: OriginExchange) => void
