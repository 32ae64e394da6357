/**
 * A dispatcher that a pool is made of, and how the pool learns of what happens to it: a client that the pool
 * made reports to it before its own events; of any other dispatcher there are only the events.
 */

import { NOT_IN_HEAP, type Ranked } from '../../base/collection/indexed-heap.ts'
import { type EndReason, endReason } from '../../request/end-reason.ts'
import { connectEnd } from '../../request/foreign-error.ts'
import type { Request } from '../../request/request.ts'
import { ownSession } from '../client.ts'
import type { Dispatcher } from '../dispatcher.ts'
import { CAPACITY_KNOWN } from '../session/client-events.ts'
import type { ClientSession } from '../session/client-session.ts'

/** The pool. `targets`: what the events of a member name. */
export interface MemberOwner {
  onConnected(member: Member, origin: URL, targets: readonly unknown[]): void
  onDisconnected(member: Member, origin: URL, targets: readonly unknown[], error: Error): void
  onConnectFailed(member: Member, origin: URL, targets: readonly unknown[], failure: ConnectFailure): void
  /** No connection came about for these requests. Returns those that are to fail; the pool has the others. */
  takeBack(requests: readonly Request[]): readonly Request[]
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

/** Makes the pool the owner of a client that it made: the pool comes first, the client's events follow. */
export function ownMember(member: Member, pool: MemberOwner, url: URL): void {
  const { dispatcher } = member
  const targets = [dispatcher]
  member.session = ownSession(dispatcher, (events) => ({
    onConnected() {
      pool.onConnected(member, url, targets)
      events.onConnected()
    },
    onDisconnected(reason) {
      pool.onDisconnected(member, url, targets, reason.error)
      events.onDisconnected(reason)
    },
    onUnreachable: (requests) => pool.takeBack(requests),
    onConnectFailed(reason, isRetried) {
      pool.onConnectFailed(member, url, targets, { reason, isRetried })
      events.onConnectFailed(reason, isRetried)
    },
    onRoom() {
      pool.onRoom(member)
      events.onRoom()
    },
    onCapacityKnown: () => pool.onCapacityKnown(),
    onIdle: () => pool.onIdle(member),
    onPing(milliseconds) {
      pool.onPing(milliseconds)
      events.onPing(milliseconds)
    },
    onHandlerError(error) {
      pool.onHandlerError(error)
      // The pool has spoken for it: an `error` event without a listener would be thrown.
      if (dispatcher.listenerCount('error') > 0) events.onHandlerError(error)
    },
  }))
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
