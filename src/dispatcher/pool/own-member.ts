/**
 * What the session of a client reports that a pool has made: to the pool first, and the events of the client
 * follow.
 */
import type { EndReason } from '../../request/end-reason.ts'
import type { Request } from '../../request/request.ts'
import type { SessionOwner } from '../session/session-owner.ts'
import type { Member } from './member.ts'

/** The scheduler of the pool. `targets` are those of the events. */
export interface MemberHost {
  onConnected(member: Member, origin: URL, targets: readonly unknown[]): void
  onDisconnected(member: Member, origin: URL, targets: readonly unknown[], error: Error): void
  /** Returns the requests that are to fail. */
  onUnreachable(requests: readonly Request[]): readonly Request[]
  /** `isRetried`: the member tries again by itself. */
  onConnectFailed(
    member: Member,
    origin: URL,
    targets: readonly unknown[],
    reason: EndReason,
    isRetried: boolean,
  ): void
  onRoom(member: Member): void
  onCapacityKnown(): void
  onMemberIdle(member: Member): void
  onPing(milliseconds: number): void
  onHandlerError(error: unknown): void
}

export class OwnMember implements SessionOwner {
  readonly #host: MemberHost
  readonly #member: Member
  readonly #url: URL
  readonly #events: SessionOwner

  constructor(host: MemberHost, member: Member, url: URL, events: SessionOwner) {
    this.#host = host
    this.#member = member
    this.#url = url
    this.#events = events
  }

  get client(): object {
    return this.#member.dispatcher
  }

  onConnected(): void {
    this.#host.onConnected(this.#member, this.#url, [this.#member.dispatcher])
    this.#events.onConnected()
  }

  onDisconnected(reason: EndReason): void {
    this.#host.onDisconnected(this.#member, this.#url, [this.#member.dispatcher], reason.error)
    this.#events.onDisconnected(reason)
  }

  onUnreachable(requests: readonly Request[]): readonly Request[] {
    return this.#host.onUnreachable(requests)
  }

  onConnectFailed(reason: EndReason, isRetried: boolean): void {
    this.#host.onConnectFailed(this.#member, this.#url, [this.#member.dispatcher], reason, isRetried)
    this.#events.onConnectFailed(reason, isRetried)
  }

  onRoom(): void {
    this.#host.onRoom(this.#member)
    this.#events.onRoom()
  }

  onCapacityKnown(): void {
    this.#host.onCapacityKnown()
  }

  onIdle(): void {
    this.#host.onMemberIdle(this.#member)
  }

  onPing(milliseconds: number): void {
    this.#host.onPing(milliseconds)
    this.#events.onPing(milliseconds)
  }

  onHandlerError(error: unknown): void {
    this.#host.onHandlerError(error)
    // The pool has reported it: an `error` event without a listener would be thrown.
    if (this.#member.dispatcher.listenerCount('error') > 0) this.#events.onHandlerError(error)
  }
}
