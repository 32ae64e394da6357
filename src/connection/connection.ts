/**
 * The waist between the client, which owns what waits, and the protocols, which own what runs.
 */
import type { EndReason } from '../request/end-reason.ts'
import type { ConnectionFacts, Request } from '../request/request.ts'

export interface Connection extends ConnectionFacts {
  /** Requests that were taken and have not ended. */
  readonly running: number
  /** Another request would have to wait now. */
  readonly busy: boolean
  /**
   * Whether this request can be taken right now. When not, `onCapacity` follows as soon as that may have
   * changed.
   */
  canTake(request: Request): boolean
  /** Settles the request, or hands it back through `onClosed`. */
  take(request: Request): void
  /** Nothing is waiting or running: the idle time begins, and the process may end. */
  rest(): void
  /** Ends everything that runs with `reason`. */
  destroy(reason: EndReason): void
  /** Closes without failing anything: only for a connection on which nothing runs. */
  retire(reason: EndReason): void
  /** Something of ours, or a Duplex of a caller's, threw: the connection ends, and all that runs on it with it. */
  onBroken(error: Error): void
}

/** Implemented by the client. */
export interface ConnectionObserver {
  /** Requests in flight on an HTTP/1.1 connection; may change at any time. */
  readonly pipelining: number
  /** The connection may be able to take a request that it refused before. */
  onCapacity(): void
  onClosed(connection: Connection, reason: EndReason, left: Leftovers): void
  /** The connection takes nothing more, and ends by itself when what runs on it has ended. */
  onRetired(connection: Connection, reason: EndReason, unanswered: readonly Request[]): void
  /** A retired connection is gone. */
  onDrained(connection: Connection, unanswered: readonly Request[]): void
  /** Requests that the peer has refused without looking at them; the connection lives on. */
  onRefused(unanswered: readonly Request[]): void
  onHandlerError(error: unknown): void
}

/**
 * Interim responses show that the server is at work, and time for the head starts anew with each. Not for ever: a
 * server could keep a request for hours with them. So many times `headersTimeout` in all, from when it was sent.
 */
export const MAX_HEADERS_TIMEOUTS = 4

/** What a connection leaves behind. */
export interface Leftovers {
  /** Requests that can be sent again on another connection, in order. */
  readonly unanswered: readonly Request[]
  /** Nothing was running. */
  readonly idle: boolean
}

/** What connections read of the client's options. */
export interface ConnectionSettings {
  readonly authority: string
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly keepAliveTimeout: number
  readonly keepAliveMaxTimeout: number
  readonly keepAliveTimeoutThreshold: number
  readonly maxHeaderSize: number
  readonly maxResponseSize: number
  readonly maxRequestsPerClient: number
  readonly strictContentLength: boolean
}

/** What HTTP/2 connections read beside that. */
export interface Http2Settings extends ConnectionSettings {
  readonly initialWindowSize: number
  readonly connectionWindowSize: number
  readonly pingInterval: number
}

export interface Http2Observer extends ConnectionObserver {
  /** Streams in flight as long as the server has set no limit. */
  readonly maxConcurrentStreams: number
  onPing(milliseconds: number): void
}

/** When the connection came about, on the clock of `performance.now()`. */
export interface ConnectTimes {
  readonly connect: number | null
  readonly secured: number | null
}
