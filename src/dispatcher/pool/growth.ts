/**
 * Whether a pool may open one more connection: how many there are and are on the way, what they speak, and
 * whether the last attempt failed.
 */
import { Deadline, type DeadlineOwner } from '../../base/loop/deadline.ts'
import type { Member } from './member.ts'
import type { GrowthPolicy, Protocol } from './policy.ts'

/**
 * Milliseconds without another attempt after one more connection could not be opened while others are up: a
 * server that allows no more must not be asked again for each request that waits.
 */
const GROWTH_PAUSE = 500

export class Growth {
  readonly #policy: GrowthPolicy | null
  readonly #pause: Deadline
  #protocol: Protocol
  #newest: Member | null = null
  /** Connections that are up. */
  connected = 0
  /** The members that have a connection on the way. */
  readonly #opening = new Set<Member>()
  /** An attempt failed while others are on the way: their answer is awaited before there are more. */
  #isDoubtful = false

  constructor(policy: GrowthPolicy | null, owner: DeadlineOwner) {
    this.#policy = policy
    this.#pause = new Deadline(owner)
    this.#protocol = policy?.protocol ?? 'h1'
  }

  /** Whether a pool of this many members may have one more. */
  allows(members: number): boolean {
    if (this.#policy === null || members >= this.#policy.limit) return false
    if (this.#isDoubtful || this.#pause.armed || this.awaitsPlace) return false
    return this.#protocol === 'h1' || (this.#opening.size === 0 && this.#isNewestFull())
  }

  /** A member waits for its turn to open a connection: more of them would only wait behind it. */
  get awaitsPlace(): boolean {
    return this.#policy?.places?.isWaiting === true
  }

  /** The members that have a connection on the way. */
  get opening(): readonly Member[] {
    return [...this.#opening]
  }

  /**
   * Whether the newest connection is known to be full: a server that allows no stream at all gets no other.
   */
  #isNewestFull(): boolean {
    const session = this.#newest?.session ?? null
    return session === null || !session.connected || (session.isLimitKnown && session.running > 0)
  }

  onAdded(member: Member): void {
    this.#newest = member
  }

  onConnected(member: Member): void {
    this.connected++
    this.#isDoubtful = false
    this.#pause.disarm()
    if (member.session !== null) this.#protocol = member.session.multiplexes ? 'h2' : 'h1'
    this.count(member)
  }

  onDisconnected(): void {
    this.connected--
    if (this.connected === 0) this.#pause.disarm()
  }

  /** A connection could not be opened. Returns whether the requests that wait can expect none. */
  onNoConnection(): boolean {
    if (this.connected > 0) {
      this.#pause.arm(GROWTH_PAUSE)
      return false
    }
    this.#isDoubtful = this.#opening.size > 0
    return !this.#isDoubtful
  }

  onRemoved(member: Member): void {
    this.count(member)
    if (this.#newest === member) this.#newest = null
  }

  /** A member has begun to connect, or is done with that. `isOpening`: it is about to. */
  count(member: Member, isOpening: boolean = member.isOpening): void {
    const opening = this.#opening
    if (isOpening) opening.add(member)
    else if (opening.size > 0 && opening.delete(member) && opening.size === 0) this.#isDoubtful = false
  }

  stop(): void {
    this.#pause.dispose()
  }
}
