/**
 * What differs between the pools: what waits in them, how a member gets it, whose turn it is, and whether the
 * pool makes its members itself.
 */
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { EndReason } from '../../request/end-reason.ts'
import type { RequestHost } from '../../request/request.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { OriginPlaces } from '../places/origin-places.ts'
import type { Waiting } from '../session/request-queue.ts'
import type { Member } from './member.ts'

/** One accepted `dispatch()` call that waits for a member. */
export interface Work extends Waiting {
  /** The TLS server name that it asks for, as far as that is known. */
  readonly servername?: string | null
  announceQueued(): void
  fail(reason: EndReason): void
}

/** `work` is always what `make` has made. */
export interface PoolPolicy {
  /** Null: members come from outside, and are never let go by the pool. */
  readonly growth: GrowthPolicy | null
  /** Checks a call and makes work of it. May throw. */
  make(options: DispatchOptions, handler: DispatchHandler, host: WorkHost): Work
  /** Returns what `dispatch` does: false when the member takes no more until it drains. */
  give(member: Member, work: Work): boolean
  /** The rank of a member that has just been given work. */
  rank(member: Member): number
  /** The member for the next piece of work, where that does not go by rank; null when none can take it. */
  choose?(): Member | null
}

/** The pool, as long as work waits in it. */
export interface WorkHost extends RequestHost {
  onRequestAborted(work: Work): void
}

/** How a pool makes its members. */
export interface GrowthPolicy {
  /** Most members at a time. */
  readonly limit: number
  /** Milliseconds after which a connected member is replaced; null for never. */
  readonly timeToLive: number | null
  /** What the members' connections speak, as far as that is known. */
  readonly protocol: Protocol
  /** The places of the members' connections, if they are limited over all origins. */
  readonly places: OriginPlaces | null
  /** The connector is the caller's, whose errors are passed on untouched. */
  readonly isForeign: boolean
  /** The members are our own clients, which report to the pool; of any others there are only the events. */
  readonly ownsMembers: boolean
  /** May be the caller's function, which may throw, and return anything. */
  create(): Dispatcher
}

export type Protocol = 'unknown' | 'h1' | 'h2'
