/**
 * The scheduling of a pool: work waits in a queue and is given to a member that can take it; members are made
 * when all are taken, and let go when they are of no use any more.
 *
 * Over HTTP/2 one connection carries many requests. So a cold pool opens one connection, and what comes
 * meanwhile waits for what it turns out to speak: over HTTP/2 it follows on that connection, over HTTP/1.1
 * each request gets a connection. Further HTTP/2 connections are opened one after another, and only while
 * requests wait for a stream.
 *
 * What work is, and how a member is given it, is up to the policy.
 *
 * Long because the queue, the members and their growth meet here: most of its methods are their callbacks.
 */
import type { EventEmitter } from 'node:events'
import { IndexedHeap } from '../../base/collection/indexed-heap.ts'
import { now } from '../../base/loop/clock.ts'
import { ClientDestroyedError } from '../../errors.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { callersReason, type EndReason, endReason } from '../../request/end-reason.ts'
import { connectEnd } from '../../request/foreign-error.ts'
import type { Request } from '../../request/request.ts'
import { ownSession } from '../client.ts'
import { type ConnectionSnapshot, connectionsOf } from '../connection-snapshot.ts'
import type { Dispatcher } from '../dispatcher.ts'
import { DrainGate } from '../drain-gate.ts'
import { closeAll, destroyAll, retireAll } from '../end-all.ts'
import { emitSafely } from '../events.ts'
import { RunLoop } from '../run-loop.ts'
import { CAPACITY_KNOWN } from '../session/client-events.ts'
import { RequestQueue } from '../session/request-queue.ts'
import { type PoolStats, statsOf } from '../stats.ts'
import { Growth } from './growth.ts'
import { Member, type MemberState } from './member.ts'
import { type MemberHost, OwnMember } from './own-member.ts'
import type { PoolPolicy, Work, WorkHost } from './policy.ts'

/**
 * `finishing`: work that waits is still given out. `closing`: the members finish what they have. `closed`:
 * they have. `ended`: by `destroy()`.
 */
type Stage =
  | { readonly at: 'open' | 'closed' | 'ended' }
  | { readonly at: 'finishing' | 'closing'; readonly done: () => void }

export class PoolScheduler extends RunLoop implements WorkHost, MemberHost {
  readonly #pool: EventEmitter
  /** The events of a pool name its origin; a pool of several origins has none. */
  readonly #url: URL | null
  readonly #policy: PoolPolicy
  readonly #queue = new RequestQueue<Work>()
  readonly #gate = new DrainGate()
  readonly #members = new Set<Member>()
  /** The members that can take work now. */
  readonly #free = new IndexedHeap<Member>()
  /** They get nothing more, and are forgotten when they have finished. */
  readonly #draining = new Set<Member>()
  /** Work that came back because its member could not connect: it fails when that happens again. */
  readonly #returned = new WeakSet<Work>()
  /** Called when it has neither members nor anything to do. */
  readonly #onIdle: () => void
  readonly #growth: Growth
  #stage: Stage = { at: 'open' }
  /** Members so far. */
  #added = 0

  constructor(pool: EventEmitter, url: URL | null, policy: PoolPolicy, onIdle: () => void) {
    super()
    this.#pool = pool
    this.#url = url
    this.#policy = policy
    this.#onIdle = onIdle
    this.#growth = new Growth(policy.growth, {
      onDeadline: () => this.run(),
      onBroken: (error) => this.onBroken(error),
    })
  }

  get stats(): PoolStats {
    const stats = { connected: 0, free: 0, pending: this.#queue.size, queued: this.#queue.size, running: 0 }
    for (const member of [...this.#members, ...this.#draining]) {
      stats.connected += member.connections
      if (member.isFree && member.connections > 0) stats.free++
      const own = member.session ?? statsOf(member.dispatcher)
      stats.pending += own?.pending ?? 0
      stats.running += own?.running ?? 0
    }
    return { ...stats, size: stats.pending + stats.running }
  }

  get connections(): ConnectionSnapshot[] {
    const members = [...this.#members, ...this.#draining]
    return members.flatMap(({ session, dispatcher }) => session?.connections ?? connectionsOf(dispatcher))
  }

  accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    const work = this.#policy.make(options, handler, this)
    // A diagnostics subscriber, or a getter of the options, may have destroyed the pool by now.
    if (this.#stage.at === 'ended') {
      work.fail(endReason('destroyed', new ClientDestroyedError()))
      return false
    }
    if (!work.settled) {
      this.#queue.push(work)
      this.#gate.entered++
      try {
        work.announceQueued()
        this.run()
      } finally {
        this.#gate.entered--
      }
    }
    return this.#gate.answer(this.#hasRoom())
  }

  /** `drain` follows when it can take more. */
  get needsDrain(): boolean {
    return this.#gate.needsDrain
  }

  /** Work in the queue has settled. */
  onRequestAborted(work: Work): void {
    this.#queue.onSettled(work)
    this.run()
  }

  /** What waits has nothing to resume. */
  onRequestResumed(): void {}

  onHandlerError(error: unknown): void {
    emitSafely(this.#pool, 'error', error)
  }

  /** No connection came about for these requests. Returns those that are to fail; the others wait again. */
  onUnreachable(requests: readonly Request[]): readonly Request[] {
    for (const request of requests) request.moveTo(this)
    const { at } = this.#stage
    if (this.#growth.connected === 0 || at === 'closing' || at === 'closed' || at === 'ended') return requests
    const kept: Request[] = []
    const lost: Request[] = []
    for (const request of requests) (this.#returned.has(request) ? lost : kept).push(request)
    for (const request of kept) this.#returned.add(request)
    this.#queue.putBack(kept)
    return lost
  }

  /** No member will take what waits. */
  failWaiting(reason: EndReason): void {
    for (const work of this.#queue.drain()) work.fail(reason)
  }

  finish(done: () => void): void {
    this.#stage = { at: 'finishing', done }
    this.run()
  }

  terminate(reason: EndReason, done: () => void): void {
    this.#stage = { at: 'ended' }
    this.#growth.stop()
    this.failWaiting(reason)
    const members = [...this.#members, ...this.#draining]
    destroyAll(
      members.map(({ dispatcher }) => dispatcher),
      reason,
      done,
    )
  }

  protected override onBroken(error: Error): void {
    this.failWaiting(callersReason('broken', error))
  }

  /** `isOwn`: the pool made it. Throws if it is not a dispatcher. */
  add(dispatcher: Dispatcher, isOwn = false): Member {
    const member = new Member(dispatcher, this.#added++)
    if (isOwn) {
      const url = this.#url!
      member.session = ownSession(dispatcher, (events) => new OwnMember(this, member, url, events))
    } else this.#watch(member)
    this.#members.add(member)
    this.#place(member, 'free')
    return member
  }

  /** Of a dispatcher that the pool did not make there are only the events. */
  #watch(member: Member): void {
    const { dispatcher } = member
    dispatcher.on('connect', (origin, targets) => this.onConnected(member, origin, targets))
    dispatcher.on('disconnect', (...args) => this.onDisconnected(member, ...args))
    dispatcher.on('connectionError', (origin, targets, error) => {
      const reason = endReason(connectEnd(error), error)
      this.onConnectFailed(member, origin, targets, reason, member.isOpening)
    })
    dispatcher.on('drain', () => this.onRoom(member))
    // Throws where the pool has no listener, as the event does.
    dispatcher.on('error', (error) => this.#pool.emit('error', error))
    dispatcher.on('ping', (milliseconds) => this.onPing(milliseconds))
    member.session = ownSession(dispatcher)
    if (member.session !== null) dispatcher.on(CAPACITY_KNOWN, () => this.run())
  }

  onCapacityKnown(): void {
    this.run()
  }

  onMemberIdle(member: Member): void {
    this.#remove(member)
    this.run()
  }

  onPing(milliseconds: number): void {
    emitSafely(this.#pool, 'ping', milliseconds)
  }

  // The changes of a member's state.

  #place(member: Member, state: 'free' | 'drained'): void {
    member.state = state
    this.#free.place(member)
  }

  #fill(member: Member): void {
    member.state = 'full'
    this.#free.remove(member)
  }

  #remove(member: Member): void {
    member.state = 'retired'
    this.#members.delete(member)
    this.#free.remove(member)
    this.#growth.onRemoved(member)
  }

  /** A member gets nothing more, and is gone when it has finished what it has. */
  retire(member: Member): void {
    this.#remove(member)
    this.#draining.add(member)
    closeAll([member.dispatcher], () => {
      this.#draining.delete(member)
      this.settleDown()
    })
  }

  /** The members stay, and connect anew. */
  retireConnections(): void {
    for (const { session, dispatcher } of [...this.#members]) {
      if (session === null) retireAll([dispatcher])
      else session.retireConnection()
    }
  }

  protected override dispatchQueued(): void {
    for (let work = this.#queue.peek(); work !== null; work = this.#queue.peek()) {
      let member: Member | null
      try {
        member = this.#pick()
      } catch (error) {
        // The caller's factory threw.
        this.#queue.shift()
        work.fail(callersReason('unreachable', error as Error))
        continue
      }
      if (member === null) return
      this.#queue.shift()
      this.#give(member, work)
    }
  }

  #pick(): Member | null {
    if (this.#policy.choose !== undefined) return this.#policy.choose()
    for (let member = this.#free.peek(); member !== null; member = this.#free.peek()) {
      if (!this.#isExpired(member)) return member
      this.retire(member)
    }
    if (!this.#growth.allows(this.#members.size)) return null
    const { growth } = this.#policy
    const member = this.add(growth!.create(), growth!.ownsMembers)
    this.#growth.onAdded(member)
    return member
  }

  #isExpired(member: Member): boolean {
    const timeToLive = this.#policy.growth?.timeToLive ?? null
    return timeToLive !== null && member.connections > 0 && now() - member.connectedAt > timeToLive
  }

  #give(member: Member, work: Work): void {
    member.state = 'giving'
    // Its session connects for it, at once or in a microtask.
    if (member.session?.connected === false) this.#growth.count(member, true)
    const more = this.#policy.give(member, work)
    // It may have drained, or have been retired, meanwhile.
    const state = member.state as MemberState
    if (state === 'retired') return
    this.#growth.count(member)
    member.rank = this.#policy.rank(member)
    if (more || state === 'drained') this.#place(member, 'free')
    else this.#fill(member)
  }

  #hasRoom(): boolean {
    return this.#queue.size === 0 && (this.#free.size > 0 || this.#growth.allows(this.#members.size))
  }

  protected override onSettledDown(): void {
    if (this.#stage.at === 'ended') return
    const drain = this.#gate.check(this.#hasRoom())
    if (drain === 'later') {
      this.settleDownLater()
      return
    }
    // With each response, and few listen.
    if (drain === 'now' && this.#pool.listenerCount('drain') > 0) {
      emitSafely(this.#pool, 'drain', this.#url, [this.#pool])
    }
    if (this.#queue.size > 0) return
    if (this.#stage.at === 'finishing') {
      this.#stage = { at: 'closing', done: this.#stage.done }
      for (const member of [...this.#members]) this.retire(member)
    }
    if (this.#members.size > 0 || this.#draining.size > 0) return
    this.#growth.stop()
    this.#onIdle()
    if (this.#stage.at !== 'closing') return
    const { done } = this.#stage
    this.#stage = { at: 'closed' }
    done()
  }

  onConnected(member: Member, origin: URL, targets: readonly unknown[]): void {
    member.connections++
    member.connectedAt = now()
    this.#growth.onConnected(member)
    emitSafely(this.#pool, 'connect', origin, [this.#pool, ...targets])
    this.run()
  }

  onDisconnected(member: Member, origin: URL, targets: readonly unknown[], error: Error): void {
    if (member.connections > 0) {
      member.connections--
      this.#growth.onDisconnected()
    }
    // Requests that it still has are sent again on another connection, which it opens itself.
    this.#growth.count(member)
    emitSafely(this.#pool, 'disconnect', origin, [this.#pool, ...targets], error)
    this.run()
  }

  /** `isRetried`: the member tries again by itself. */
  onConnectFailed(
    member: Member,
    origin: URL,
    targets: readonly unknown[],
    reason: EndReason,
    isRetried: boolean,
  ): void {
    this.#growth.count(member)
    if (!isRetried && this.#policy.growth !== null) {
      this.#letGo(member)
      if (member.session !== null) this.#onNoConnection(reason)
    }
    emitSafely(this.#pool, 'connectionError', origin, [this.#pool, ...targets], reason.error)
    this.run()
  }

  #letGo(member: Member): void {
    const own = member.session ?? statsOf(member.dispatcher)
    if (own !== null && own.pending + own.running > 0) this.retire(member)
    else this.#remove(member)
  }

  #onNoConnection(reason: EndReason): void {
    if (!this.#growth.onNoConnection()) return
    const { kind, servername } = reason
    const concerned = this.#queue.drain((work) => kind !== 'wrong-name' || work.servername === servername)
    const isCallers = this.#policy.growth!.isForeign && kind !== 'no-place'
    const passed = { ...reason, isCallers }
    for (const work of concerned) work.fail(passed)
  }

  onRoom(member: Member): void {
    if (member.state === 'retired') return
    this.#growth.count(member)
    this.#place(member, 'drained')
    if (this.#growth.awaitsPlace && member.session?.connected) this.#exchange()
    this.run()
  }

  /**
   * A connection is free: what waits for another one goes first, and what came later waits in its stead, if
   * there is anything left.
   */
  #exchange(): void {
    const waiting = this.#growth.opening.filter(({ session }) => session?.awaitsPlace === true)
    const requests = waiting.flatMap(({ session }) => session!.recall())
    for (const request of requests) request.moveTo(this)
    this.#queue.putBack(requests)
    this.run()
    for (const member of waiting) {
      const work = member.state === 'retired' ? null : this.#queue.shift()
      if (work !== null) this.#give(member, work)
    }
  }
}
