/**
 * A dispatcher that a pool is made of, and how the pool learns of what happens to it: a client that the pool made reports
 * to it before its own events; of any other dispatcher there are only the events.
 */

import { NOT_IN_HEAP, type Ranked } from '../../base/collection/indexed-heap.ts'
import { type EndReason, endReason } from '../../request/end-reason.ts'
import { connectEnd } from '../../request/foreign-error.ts'
import type { Request } from '../../request/request.ts'
import { type Client, ownSession } from '../client.ts'
import type { Dispatcher } from '../dispatcher.ts'
import { CAPACITY_KNOWN } from '../session/client-events.ts'
import type { ClientSession } from '../session/client-session.ts'
import type { SessionOwner } from '../session/session-owner.ts'

/** The pool. `targets`: what the events of a member name. */
export interface MemberOwner {
  onConnected(member: Member, origin: URL, targets: readonly unknown[]): void
  onDisconnected(member: Member, origin: URL, targets: readonly unknown[], error: Error): void
  onConnectFailed(member: Member, origin: URL, targets: readonly unknown[], failure: ConnectFailure): void
  onRoom(member: Member): void
  onCapacityKnown(): void
  /** Only of clients that the pool made. */
  onIdle(member: Member): void
  onPing(milliseconds: number): void
  /** The last callback of a handler threw. */
  onHandlerError(error: unknown): void
  /** An `error` event. Throws where the pool has no listener for it, as the event would. */
  onMemberError(error: unknown): void
}

export interface ConnectFailure {
  readonly reason: EndReason
  /** The member tries again by itself. */
  readonly isRetried: boolean
}

/**
 * - `free`: in the heap, it can take work
 * - `giving`: in the heap, work is being given to it
 * - `drained`: in the heap, it has reported room, perhaps while work was being given to it
 * - `full`: it takes no more until it drains
 * - `retired`: it finishes what it has, and gets nothing more
 */
export type MemberState = 'free' | 'giving' | 'drained' | 'full' | 'retired'

export class Member implements Ranked {
  readonly dispatcher: Dispatcher
  /** Decides between equal ranks: older members come first. */
  readonly order: number
  rank: number
  heapIndex: number = NOT_IN_HEAP
  /** Null for what is not a client of ours: only its events show how it is. */
  session: ClientSession | null = null
  state: MemberState = 'free'
  /** Connections that it has reported: it may be a pool itself. */
  connections = 0
  connectedAt = 0

  constructor(dispatcher: Dispatcher, order: number) {
    this.dispatcher = dispatcher
    this.order = order
    this.rank = order
  }

  get isFree(): boolean {
    return this.heapIndex !== NOT_IN_HEAP
  }

  get isOpening(): boolean {
    return this.state !== 'retired' && this.session?.isOpening === true
  }
}

type Reclaim = (requests: readonly Request[]) => readonly Request[]

/** Owns the session of a client that the pool made: the pool comes first, the client's events follow. */
class PooledSessionOwner implements SessionOwner {
  /** The events of the client. */
  readonly #next: SessionOwner
  readonly #pool: MemberOwner
  readonly #member: Member
  readonly #url: URL
  readonly #reclaim: Reclaim

  constructor(next: SessionOwner, pool: MemberOwner, member: Member, url: URL, reclaim: Reclaim) {
    this.#next = next
    this.#pool = pool
    this.#member = member
    this.#url = url
    this.#reclaim = reclaim
  }

  onConnected(): void {
    this.#pool.onConnected(this.#member, this.#url, [this.#member.dispatcher])
    this.#next.onConnected()
  }

  onDisconnected(reason: EndReason): void {
    this.#pool.onDisconnected(this.#member, this.#url, [this.#member.dispatcher], reason.error)
    this.#next.onDisconnected(reason)
  }

  onUnreachable(requests: readonly Request[]): readonly Request[] {
    return this.#reclaim(requests)
  }

  onConnectFailed(reason: EndReason, isRetried: boolean): void {
    const failure = { reason, isRetried }
    this.#pool.onConnectFailed(this.#member, this.#url, [this.#member.dispatcher], failure)
    this.#next.onConnectFailed(reason, isRetried)
  }

  onRoom(): void {
    this.#pool.onRoom(this.#member)
    this.#next.onRoom()
  }

  onCapacityKnown(): void {
    this.#pool.onCapacityKnown()
  }

  onIdle(): void {
    this.#pool.onIdle(this.#member)
  }

  onPing(milliseconds: number): void {
    this.#pool.onPing(milliseconds)
    this.#next.onPing(milliseconds)
  }

  onHandlerError(error: unknown): void {
    this.#pool.onHandlerError(error)
    // The pool has spoken for it: an `error` event without a listener would be thrown.
    if (this.#member.dispatcher.listenerCount('error') > 0) this.#next.onHandlerError(error)
  }
}

/** Makes the pool the owner of a client that it made. */
export function ownMember(member: Member, pool: MemberOwner, url: URL, reclaim: Reclaim): void {
  member.session = ownSession(
    member.dispatcher as Client,
    (events) => new PooledSessionOwner(events, pool, member, url, reclaim),
  )
}

/** Listens to a dispatcher that the pool did not make. Throws if it is not a dispatcher. */
export function watchMember(member: Member, pool: MemberOwner): void {
  const { dispatcher } = member
  dispatcher.on('connect', (origin: URL, targets: readonly unknown[]) => {
    pool.onConnected(member, origin, targets)
  })
  dispatcher.on('disconnect', (origin: URL, targets: readonly unknown[], error: Error) => {
    pool.onDisconnected(member, origin, targets, error)
  })
  dispatcher.on('connectionError', (origin: URL, targets: readonly unknown[], error: Error) => {
    const reason = endReason(connectEnd(error), error)
    pool.onConnectFailed(member, origin, targets, { reason, isRetried: member.isOpening })
  })
  dispatcher.on('drain', () => pool.onRoom(member))
  dispatcher.on('error', (error: unknown) => pool.onMemberError(error))
  dispatcher.on('ping', (milliseconds: number) => pool.onPing(milliseconds))
  member.session = ownSession(dispatcher)
  if (member.session !== null) dispatcher.on(CAPACITY_KNOWN, () => pool.onCapacityKnown())
}
