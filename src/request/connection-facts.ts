/**
 * What a request knows of the connection that it runs on: the context of its errors, and its timings.
 */
import type { SocketInfo } from '../errors.ts'

/** When a connection came about, on the clock of `performance.now()`. */
export interface ConnectTimes {
  readonly connect: number | null
  readonly secured: number | null
}

/** The version of HTTP that a connection speaks. */
export type HttpVersion = '1.1' | '2'

export interface ConnectionFacts {
  /** Null if no connection carries the request. */
  readonly httpVersion: HttpVersion | null
  readonly reused: boolean
  readonly times: ConnectTimes
  /** Null if no socket carries the request. */
  socketInfo(): SocketInfo | null
}
