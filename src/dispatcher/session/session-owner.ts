/**
 * What a session reports, and to whom. The public client is one owner, which turns all of it into events; in
 * a pool the scheduler comes before it and decides what becomes of requests that found no connection.
 */
import type { EndReason } from '../../request/end-reason.ts'
import type { Request } from '../../request/request.ts'

export interface SessionOwner {
  /** The public client. */
  readonly client: object
  onConnected(): void
  onDisconnected(reason: EndReason): void
  /**
   * No connection comes about for these requests. Returns those that are to fail; the owner has taken the
   * others.
   */
  onUnreachable(requests: readonly Request[]): readonly Request[]
  /** A connection could not be opened. `isRetried`: the session tries again by itself. */
  onConnectFailed(reason: EndReason, isRetried: boolean): void
  /** After `false` it takes requests again. */
  onRoom(): void
  /**
   * It turned out how many requests the connection carries at a time, or there is a place for the connection
   * that it waits for: a pool may open another.
   */
  onCapacityKnown(): void
  /** It has neither a connection nor anything to do. */
  onIdle(): void
  onPing(milliseconds: number): void
  /** The last callback of a handler threw. */
  onHandlerError(error: unknown): void
}
