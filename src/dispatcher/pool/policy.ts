/**
 * What differs between the pools: what waits in them, how a member gets it, whose turn it is, and whether the pool makes
 * its members itself.
 */
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { EndReason } from '../../request/end-reason.ts'
import type { Request } from '../../request/request.ts'
import type { Client } from '../client.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { Waiting } from '../session/request-queue.ts'
import type { Member } from './member.ts'

/** One accepted `dispatch()` call that waits for a member. */
export interface Work extends Waiting {
  /** The TLS server name that it asks for, as far as that is known. */
  readonly servername?: string | null
  announceQueued(): void
  fail(reason: EndReason): void
}

export interface PoolPolicy<W extends Work> {
  /** Null: members come from outside, and are never let go by the pool. */
  readonly growth: GrowthPolicy | null
  /** Checks a call and makes work of it. May throw. */
  make(options: DispatchOptions, handler: DispatchHandler): W
  /** Returns what `dispatch` does: false when the member takes no more until it drains. */
  give(member: Member, work: W): boolean
  /** The rank of a member that has just been given work. */
  rank(member: Member): number
  /** The member for the next piece of work, where that does not go by rank; null when none can take it. */
  choose?(): Member | null
}

/** How a pool makes its members. */
export interface GrowthPolicy {
  /** Most members at a time. */
  readonly limit: number
  /** Milliseconds after which a connected member is replaced; null for never. */
  readonly timeToLive: number | null
  /** What the members' connections speak, as far as that is known. */
  readonly protocol: Protocol
  /** The connector is the caller's, whose errors are passed on untouched. */
  readonly isForeign: boolean
  readonly source: MemberSource
}

/** Where the members come from. */
export type MemberSource =
  | {
      readonly kind: 'clients'
      create(): Client
      /** No connection came about for these requests. Returns those that are to fail. */
      reclaim(requests: readonly Request[]): readonly Request[]
    }
  | {
      readonly kind: 'factory'
      /** The caller's function: may throw, and return anything. */
      create(): Dispatcher
    }

export type Protocol = 'unknown' | 'h1' | 'h2'
