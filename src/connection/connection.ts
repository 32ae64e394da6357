/**
 * The interface between the client, which owns the requests that wait, and the protocols, which own those
 * that run.
 */
import type { ConnectionFacts } from '../request/connection-facts.ts'
import type { EndReason } from '../request/end-reason.ts'
import type { Request } from '../request/request.ts'
import type { ConnectionState } from './connection-state.ts'

/** What a connection carries now, for people who look at it. */
export interface ConnectionLoad {
  /** Taken so far, those that run included. */
  readonly requests: number
  /** When it became idle, on the clock of `now()`; null while it is not. */
  readonly idleSince: number | null
  /** HTTP/2: open streams, and how many there may be; null over HTTP/1.1. */
  readonly streams: number | null
  readonly maxStreams: number | null
  /** Other requests may follow those that run. */
  readonly takesMore: boolean
}

export interface Connection extends ConnectionFacts {
  readonly state: ConnectionState
  /** Requests that were taken and have not ended. */
  readonly running: number
  /** Another request would have to wait now. */
  readonly busy: boolean
  /** It carries many requests at a time, each on a stream. */
  readonly multiplexes: boolean
  /** The peer has said how many requests it takes at a time, and it takes at least one. */
  readonly isLimitKnown: boolean
  load(): ConnectionLoad
  /**
   * Takes the request, which is then settled or comes back through `onReturned`. False: it cannot be taken
   * now, and `onCapacity` follows as soon as that may have changed.
   */
  offer(request: Request): boolean
  /** No request waits or runs: the idle time begins, and the process may end. */
  becomeIdle(): void
  /** The limits of the owner have changed. */
  onLimitsChanged(): void
  /** Ends everything that runs with `reason`. */
  destroy(reason: EndReason): void
  /** Takes no more requests, and ends when those on it have finished. */
  retire(reason: EndReason): void
  /** Code of ours, or a Duplex of the caller, threw: the connection ends, and all that runs on it with it. */
  onBroken(error: Error): void
}

/** Implemented by the client. */
export interface ConnectionOwner {
  /** Requests in flight on an HTTP/1.1 connection; may change at any time. */
  readonly pipelining: number
  /** Streams in flight on an HTTP/2 connection as long as the server has set no limit. */
  readonly maxConcurrentStreams: number
  /** The connection may be able to take a request that it refused before. */
  onCapacity(): void
  /** Requests to send again, in their order. `onState` or `onCapacity` follows. */
  onReturned(requests: readonly Request[]): void
  /**
   * The connection drains, lingers or has ended. Each is reported once, the last followed by `onCapacity`.
   */
  onState(connection: Connection): void
  onHandlerError(error: unknown): void
  /** An HTTP/2 PING was answered. */
  onPing(milliseconds: number): void
}

/** The client's options that connections read. */
export interface ConnectionSettings {
  readonly authority: string
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly requestBodyTimeout: number
  readonly expectContinueTimeout: number
  readonly keepAliveTimeout: number
  readonly keepAliveMaxTimeout: number
  readonly keepAliveTimeoutThreshold: number
  readonly maxHeaderSize: number
  readonly maxResponseSize: number
  readonly maxRequestsPerClient: number
  readonly strictContentLength: boolean
}

/** The options that HTTP/2 connections read as well. */
export interface Http2Settings extends ConnectionSettings {
  readonly initialWindowSize: number
  readonly connectionWindowSize: number
  readonly pingInterval: number
}
