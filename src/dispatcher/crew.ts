/**
 * What a pool does behind its public face: work waits in a queue and is given to a member that can take it;
 * members come when all are taken and go when they are of no use any more (contract: fetch.md 3).
 *
 * Over HTTP/2 one connection carries many requests, so from cold one connection is opened, and what comes
 * meanwhile waits for what it turns out to speak: over HTTP/2 it follows on that connection, over HTTP/1.1
 * each gets its own. Further HTTP/2 connections are opened one after another, and only while requests wait
 * for a stream.
 *
 * What work is, and how a member is given it, is up to the plan.
 */
import type { EventEmitter } from 'node:events'
import { now } from '../base/clock.ts'
import { Deadline } from '../base/deadline.ts'
import { ClientDestroyedError } from '../errors.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { callersReason, type EndReason, endReason } from '../request/end-reason.ts'
import { connectEnd } from '../request/foreign-error.ts'
import { sessionIn } from './client.ts'
import type { ClientSession } from './client-session.ts'
import type { Dispatcher } from './dispatcher.ts'
import { endAll } from './end-all.ts'
import { FreeHeap, NO_SLOT, type Ranked } from './free-heap.ts'
import { Pump } from './pump.ts'
import { RequestQueue, type Waiting } from './request-queue.ts'
import { type PoolStats, statsOf } from './stats.ts'
import { announceVacancy, whenVacant } from './vacancy.ts'

/** One accepted `dispatch()` call that waits for a member. */
export interface Work extends Waiting {
  announceQueued(): void
  fail(reason: EndReason): void
}

export interface CrewPlan<W extends Work> {
  /** Most members at a time. */
  readonly limit: number
  /** Milliseconds after which a connected member is replaced; null for never. */
  readonly timeToLive: number | null
  /** What the members' connections speak, as far as that is known. */
  readonly protocol: Protocol
  /** Connect errors are a caller's own. */
  readonly isForeign: boolean
  /** Makes one more member; null where members come from outside. */
  readonly hire: (() => Dispatcher) | null
  /** Members that have neither a connection nor work are forgotten. What a caller has made stays, and gets its turn. */
  readonly forgets: boolean
  /** Checks a call and makes work of it. May throw. */
  make(options: DispatchOptions, handler: DispatchHandler): W
  /** What `dispatch` returns: false when the member takes no more until it drains. */
  give(member: Member, work: W): boolean
  /** The rank of a member that was given work just now. */
  rank(member: Member): number
  /** Who gets the next piece of work, where that does not go by rank; null when nobody can take it. */
  choose?(): Member | null
}

export type Protocol = 'unknown' | 'h1' | 'h2'

/** A dispatcher that a pool is made of. */
export class Member implements Ranked {
  readonly dispatcher: Dispatcher
  /** Null when it is no client of ours: then only its events tell how it is. */
  readonly session: ClientSession | null
  readonly order: number
  rank: number
  slot: number = NO_SLOT
  /** It is still one of the crew. */
  belongs = true
  /** Connections it has said to have. */
  connections = 0
  connectedAt = 0
  /** A connection of it is on the way. */
  opening = false
  /** It has drained while it was being given work. */
  drained = false

  get isFree(): boolean {
    return this.slot !== NO_SLOT
  }

  constructor(dispatcher: Dispatcher, order: number, rank: number) {
    this.dispatcher = dispatcher
    this.session = sessionIn(dispatcher)
    this.order = order
    this.rank = rank
  }
}

/** `finishing`: what waits is still given out. `closing`: members finish what they have. */
type Stage = 'open' | 'finishing' | 'closing' | 'ended'

/**
 * Milliseconds without another try after one more connection could not be had while others are up: a server
 * that allows no more must not be asked again for each request that waits.
 */
const GROWTH_PAUSE = 500

export class Crew<W extends Work> extends Pump {
  readonly #plan: CrewPlan<W>
  readonly #queue = new RequestQueue<W>()
  readonly #members = new Set<Member>()
  readonly #free = new FreeHeap<Member>()
  /** They get nothing more, and are forgotten when they have finished. */
  readonly #leaving = new Set<Member>()
  /** Work that came back because its member could not connect: it fails when that happens again. */
  readonly #returned = new WeakSet<W>()
  readonly #onMemberError = (error: unknown): unknown => this.speaker.emit('error', error)
  readonly #onMemberPing = (milliseconds: number): unknown => this.speaker.emit('ping', milliseconds)
  readonly #growthPause = new Deadline({
    onDeadline: () => this.pump(),
    onBroken: (error) => this.onBroken(error),
  })
  #protocol: Protocol
  #hired = 0
  #newest: Member | null = null
  #connected = 0
  #openings = 0
  /** A connect failed while others are on the way: their answer is awaited before there are more. */
  #doubtful = false
  #needDrain = false
  #accepting = 0
  #stage: Stage = 'open'
  #whenDone: (() => void) | null = null
  #url: URL | null = null

  constructor(pool: EventEmitter, plan: CrewPlan<W>) {
    super(pool)
    this.#plan = plan
    this.#protocol = plan.protocol
  }

  get stats(): PoolStats {
    const stats = { connected: 0, free: 0, pending: this.#queue.size, queued: this.#queue.size, running: 0 }
    for (const member of [...this.#members, ...this.#leaving]) {
      stats.connected += member.connections
      if (member.slot !== NO_SLOT && member.connections > 0) stats.free++
      const own = member.session ?? statsOf(member.dispatcher)
      stats.pending += own?.pending ?? 0
      stats.running += own?.running ?? 0
    }
    return { ...stats, size: stats.pending + stats.running }
  }

  /** The events of a pool name its origin; one of several origins has none. */
  set url(url: URL) {
    this.#url = url
  }

  accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    const work = this.#plan.make(options, handler)
    // A diagnostics subscriber, or a getter of the options, may have destroyed the pool meanwhile.
    if (this.#stage === 'ended') {
      work.fail(endReason('destroyed', new ClientDestroyedError()))
      return false
    }
    if (!work.settled) {
      this.#queue.push(work)
      this.#accepting++
      try {
        work.announceQueued()
        this.pump()
      } finally {
        this.#accepting--
      }
    }
    if (this.#hasRoom()) return true
    this.#needDrain = true
    return false
  }

  /** `drain` follows when it can take more. */
  get needsDrain(): boolean {
    return this.#needDrain
  }

  /** Work in the queue has settled. */
  onAborted(work: W): void {
    this.#queue.onSettled(work)
    this.pump()
  }

  onHandlerError(error: unknown): void {
    this.emit('error', error)
  }

  /** A member could not connect. Takes back what others can do, and returns what is to fail. */
  takeBack(works: readonly W[]): readonly W[] {
    if (this.#connected === 0 || this.#stage === 'closing' || this.#stage === 'ended') return works
    const kept: W[] = []
    const lost: W[] = []
    for (const work of works) (this.#returned.has(work) ? lost : kept).push(work)
    for (const work of kept) this.#returned.add(work)
    this.#queue.putBack(kept)
    return lost
  }

  /** No member will take what waits. */
  failWaiting(reason: EndReason): void {
    for (const work of this.#queue.drain()) work.fail(reason)
  }

  finish(done: () => void): void {
    this.#whenDone = done
    this.#stage = 'finishing'
    this.pump()
  }

  terminate(reason: EndReason, done: () => void): void {
    this.#stage = 'ended'
    this.#growthPause.dispose()
    this.failWaiting(reason)
    const members = [...this.#members, ...this.#leaving]
    endAll(
      members.map(({ dispatcher }) => dispatcher),
      (dispatcher, one) => dispatcher.destroy(reason.isCallers ? reason.error : null, one),
      done,
    )
  }

  protected override onBroken(error: Error): void {
    this.failWaiting(callersReason('broken', error))
  }

  /** Adds a member; without a rank it comes after those that are older. */
  join(dispatcher: Dispatcher, rank: number = this.#hired): Member {
    const member = new Member(dispatcher, this.#hired++, rank)
    dispatcher.on('connect', (origin: URL, targets: readonly unknown[]) => {
      this.#onConnect(member, origin, targets)
    })
    dispatcher.on('disconnect', (origin: URL, targets: readonly unknown[], error: Error) => {
      this.#onDisconnect(member, origin, targets, error)
    })
    dispatcher.on('connectionError', (origin: URL, targets: readonly unknown[], error: Error) => {
      this.#onConnectionError(member, origin, targets, error)
    })
    const onDrain = (): void => this.#onDrain(member)
    // A caller's factory may give the same client to several pools; only one of them can have the short way.
    if (member.session?.onRoom === null) member.session.onRoom = onDrain
    else dispatcher.on('drain', onDrain)
    dispatcher.on('error', this.#onMemberError)
    dispatcher.on('ping', this.#onMemberPing)
    if (this.#plan.forgets) whenVacant(dispatcher, () => this.#onVacant(member))
    // Only now: what a factory made may be no dispatcher at all.
    this.#members.add(member)
    this.#free.place(member)
    return member
  }

  /** A member gets nothing more, and is gone when it has finished what it has. */
  dismiss(member: Member): void {
    this.#forget(member)
    this.#leaving.add(member)
    endAll(
      [member.dispatcher],
      (dispatcher, one) => dispatcher.close(one),
      () => {
        this.#leaving.delete(member)
        this.settle()
      },
    )
  }

  protected override step(): void {
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
    if (this.#plan.choose !== undefined) return this.#plan.choose()
    for (let member = this.#free.peek(); member !== null; member = this.#free.peek()) {
      if (!this.#isExpired(member)) return member
      this.dismiss(member)
    }
    if (!this.#canHire()) return null
    this.#newest = this.join(this.#plan.hire!())
    return this.#newest
  }

  #isExpired(member: Member): boolean {
    const { timeToLive } = this.#plan
    return timeToLive !== null && member.connections > 0 && now() - member.connectedAt > timeToLive
  }

  #give(member: Member, work: W): void {
    member.drained = false
    if (member.session?.connected === false) this.#setOpening(member, true)
    const more = this.#plan.give(member, work)
    if (!member.belongs) return
    member.rank = this.#plan.rank(member)
    if (more || member.drained) this.#free.place(member)
    else this.#free.remove(member)
  }

  #hasRoom(): boolean {
    return this.#queue.size === 0 && (this.#free.size > 0 || this.#canHire())
  }

  #canHire(): boolean {
    if (this.#plan.hire === null || this.#members.size >= this.#plan.limit) return false
    if (this.#doubtful || this.#growthPause.armed) return false
    return this.#protocol === 'h1' || (this.#openings === 0 && this.#isNewestFull())
  }

  /** Whether the newest connection is known to be full: a server that allows no stream at all gets no other. */
  #isNewestFull(): boolean {
    const session = this.#newest?.session ?? null
    return session === null || !session.connected || (session.isLimitKnown && session.running > 0)
  }

  protected override afterPump(): void {
    if (this.#stage === 'ended') return
    if (this.#needDrain && this.#hasRoom()) {
      if (this.#accepting > 0) {
        this.afterPumpLater()
        return
      }
      this.#needDrain = false
      if (this.isHeard('drain')) this.emit('drain', this.#url, [this.speaker])
    }
    if (this.#queue.size > 0) return
    if (this.#stage === 'finishing') {
      this.#stage = 'closing'
      for (const member of [...this.#members]) this.dismiss(member)
    }
    if (this.#members.size > 0 || this.#leaving.size > 0) return
    this.#growthPause.dispose()
    announceVacancy(this.speaker)
    if (this.#stage !== 'closing') return
    const done = this.#whenDone
    this.#whenDone = null
    done?.()
  }

  #onConnect(member: Member, origin: URL, targets: readonly unknown[]): void {
    member.connections++
    this.#connected++
    member.connectedAt = now()
    this.#doubtful = false
    this.#growthPause.disarm()
    if (member.session !== null) this.#protocol = member.session.multiplexes ? 'h2' : 'h1'
    this.#setOpening(member, false)
    this.emit('connect', origin, [this.speaker, ...targets])
    this.pump()
  }

  /** It turned out how much a member takes at a time. */
  onLimitKnown(): void {
    this.pump()
  }

  #onDisconnect(member: Member, origin: URL, targets: readonly unknown[], error: Error): void {
    if (member.connections > 0) {
      member.connections--
      this.#connected--
      if (this.#connected === 0) this.#growthPause.disarm()
    }
    // What it has is sent again on another connection, which it opens itself.
    this.#setOpening(member, member.session !== null && member.session.pending > 0)
    this.emit('disconnect', origin, [this.speaker, ...targets], error)
    this.pump()
  }

  #onConnectionError(member: Member, origin: URL, targets: readonly unknown[], error: Error): void {
    const { session } = member
    const retries = session !== null && session.pending > 0
    this.#setOpening(member, retries)
    // Members that are not hired here are not let go here.
    if (!retries && this.#plan.hire !== null) {
      this.#letGo(member)
      if (session !== null) this.#onNoConnection(error)
    }
    this.emit('connectionError', origin, [this.speaker, ...targets], error)
    this.pump()
  }

  #letGo(member: Member): void {
    const own = member.session ?? statsOf(member.dispatcher)
    if (own !== null && own.pending + own.running > 0) this.dismiss(member)
    else this.#forget(member)
  }

  #onNoConnection(error: Error): void {
    if (this.#connected > 0) {
      this.#growthPause.arm(GROWTH_PAUSE)
      return
    }
    this.#doubtful = this.#openings > 0
    const kind = connectEnd(error)
    if (this.#doubtful || kind === 'wrong-name') return
    this.failWaiting({ kind, error, isCallers: this.#plan.isForeign })
  }

  #onDrain(member: Member): void {
    if (!member.belongs) return
    member.drained = true
    if (member.opening) this.#setOpening(member, member.session!.connecting)
    this.#free.place(member)
    this.pump()
  }

  #onVacant(member: Member): void {
    this.#forget(member)
    this.pump()
  }

  #forget(member: Member): void {
    member.belongs = false
    this.#members.delete(member)
    this.#free.remove(member)
    this.#setOpening(member, false)
    if (this.#newest === member) this.#newest = null
  }

  #setOpening(member: Member, opening: boolean): void {
    if (member.opening === opening) return
    member.opening = opening
    this.#openings += opening ? 1 : -1
    if (this.#openings === 0) this.#doubtful = false
  }
}
