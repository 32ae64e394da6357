/**
 * How many connections the dispatchers of an agent have at once, and which of them has to close when another
 * origin waits for its turn. It knows places and who waits for them, and neither requests nor protocols.
 *
 * Origins that wait stand in a line. The first gets the next free place for the oldest of its connects, and
 * goes to the end of the line if it has more: none waits longer than until each of the others has had one.
 *
 * A place becomes free when the socket of its connection has closed. While an origin waits, connections give
 * their places up:
 * - an idle one at once, that which was used longest ago first;
 * - after a response, one whose turn is over, if the origin that waits has less than its share. An origin
 *   that has no more than its own has a longer turn.
 */
import { LinkedList } from '../../base/collection/linked-list.ts'
import { runIn } from '../../base/loop/call-context.ts'
import { now } from '../../base/loop/clock.ts'
import { Deadline, type DeadlineOwner } from '../../base/loop/deadline.ts'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import { informational } from '../../connection/ends.ts'
import { MaxConnectionsReachedError } from '../../errors.ts'
import type { Claim, ClaimHost, OriginPlaces } from './origin-places.ts'
import { Place, type PlaceHost } from './place.ts'

/**
 * Milliseconds that an origin keeps a place while others wait; twice as long if it has no more than its share.
 * Less, and connections would be opened for a few requests each; more, and those that wait would notice.
 */
const TURN_MS = 100

/** Milliseconds between two looks at those that have waited too long: they share one timer. */
const LEAST_LOOK = 20

/** Without a wait: milliseconds for an idle connection to close, which makes the place that was asked for. */
const LONGEST_CLOSE = 1000

/** Infinity where there is no limit. */
export interface ConnectionLimitSettings {
  readonly maxConnections: number
  readonly maxIdleConnections: number
  readonly maxConnectionsWait: number
}

export class ConnectionLimit implements ClaimHost, PlaceHost, DeadlineOwner {
  readonly #settings: ConnectionLimitSettings
  /** Places that are not free. */
  #held = 0
  /** Origins that hold a place, or wait for one. */
  #active = 0
  /** Connects that wait. */
  #waiting = 0
  /** The origins that wait, in the order of their turns. */
  readonly #line = new LinkedList<OriginPlaces>()
  /** The one that was used longest ago comes first. */
  readonly #idle = new LinkedList<Place>()
  /** Places that become free in a moment. */
  #closing = 0
  /** Places that become free when what runs on them has finished, in the order in which they were told. */
  readonly #draining = new LinkedList<Place>()
  readonly #deadline = new Deadline(this)
  /** When that is. */
  #lookAt = 0
  #serving: 'no' | 'yes' = 'no'
  #look: 'none' | 'due' = 'none'

  constructor(settings: ConnectionLimitSettings) {
    this.#settings = settings
  }

  ask(origin: OriginPlaces, claim: Claim): boolean {
    const { maxConnections, maxConnectionsWait } = this.#settings
    const room = maxConnections - this.#held + this.#idle.size + this.#closing
    if (maxConnectionsWait === 0 && room <= this.#waiting) {
      claim.claimant.onNoPlace(new MaxConnectionsReachedError())
      return false
    }
    if (origin.held === 0 && origin.claims.size === 0) this.#active++
    if (origin.claims.size === 0) this.#line.push(origin)
    origin.claims.push(claim)
    this.#waiting++
    this.#serve()
    if (claim.listedIn === null) return false
    if (!this.#deadline.armed) this.#arm(this.#longestWait, now())
    return true
  }

  withdraw(origin: OriginPlaces, claim: Claim): void {
    if (claim.listedIn === null) return
    this.#leaveLine(origin, claim)
    if (origin.held === 0 && origin.claims.size === 0) this.#active--
    if (this.#waiting === 0) this.#deadline.disarm()
  }

  #leaveLine(origin: OriginPlaces, claim: Claim): void {
    origin.claims.remove(claim)
    this.#waiting--
    if (origin.claims.size === 0) this.#line.remove(origin)
  }

  onIdle(place: Place): void {
    place.state = 'idle'
    this.#idle.push(place)
    // The next request often comes before the turn of the event loop is over.
    if (this.#waiting > 0 || this.#idle.size > this.#settings.maxIdleConnections) this.#lookLater()
  }

  onBusy(place: Place): void {
    place.state = 'taken'
    this.#idle.remove(place)
  }

  takesFrom(place: Place, running: number): boolean {
    if (this.#waiting === 0) return false
    const { holder } = place
    const share = this.#share
    const at = now()
    if (at - place.givenAt < (holder.held > share ? TURN_MS : 2 * TURN_MS)) return false
    // One that drains may take long: the others are not to wait for it longer than for a turn.
    let expected = this.#closing
    for (let first = this.#draining.first; first !== null; first = this.#draining.first) {
      if (at - first.endsAt < TURN_MS) break
      this.#draining.remove(first)
    }
    expected += this.#draining.size
    let entitled = 0
    for (let other = this.#line.first; other !== null && entitled <= expected; other = other.next) {
      if (other !== holder && other.held < share) entitled++
    }
    if (entitled <= expected) return false
    if (running === 0) this.#close(place)
    else {
      place.state = 'draining'
      place.endsAt = at
      this.#draining.push(place)
    }
    return true
  }

  /** The places that each origin may have if all are to have as many; one at least. */
  get #share(): number {
    return Math.max(1, Math.floor(this.#settings.maxConnections / this.#active))
  }

  onFree(place: Place): void {
    if (place.state === 'closing') this.#closing--
    place.listedIn?.remove(place)
    place.state = 'free'
    place.connection = null
    this.#held--
    const { holder } = place
    holder.held--
    if (holder.held === 0 && !holder.isWaiting) this.#active--
    this.#serve()
  }

  /** Gives out what is free, and makes room for the others. What is called meanwhile may ask for more. */
  #serve(): void {
    if (this.#serving === 'yes') return
    this.#serving = 'yes'
    try {
      for (let origin = this.#line.first; origin !== null; origin = this.#line.first) {
        if (this.#held < this.#settings.maxConnections) this.#give(origin)
        else if (this.#idle.first === null || this.#closing >= this.#waiting) break
        else this.#evict(this.#idle.first)
      }
    } finally {
      this.#serving = 'no'
    }
  }

  #give(origin: OriginPlaces): void {
    const claim = origin.claims.first!
    this.#leaveLine(origin, claim)
    if (origin.claims.size > 0) {
      this.#line.remove(origin)
      this.#line.push(origin)
    }
    if (this.#waiting === 0) this.#deadline.disarm()
    this.#held++
    origin.held++
    const { claimant } = claim
    runIn(claim.context, claimant.onPlace, claimant, new Place(this, origin))
  }

  #evict(place: Place): void {
    this.#close(place)
    const { connection } = place
    try {
      connection?.retire(informational('idle', 'closed to make room for another connection'))
    } catch (error) {
      connection?.onBroken(error as Error)
    }
  }

  #close(place: Place): void {
    place.listedIn?.remove(place)
    place.state = 'closing'
    this.#closing++
  }

  #lookLater(): void {
    if (this.#look === 'due') return
    this.#look = 'due'
    runtimeSetImmediate(() => {
      this.#look = 'none'
      while (this.#idle.size > this.#settings.maxIdleConnections) this.#evict(this.#idle.first!)
      this.#serve()
    })
  }

  get #longestWait(): number {
    return this.#settings.maxConnectionsWait || LONGEST_CLOSE
  }

  #arm(delay: number, at: number): void {
    if (delay === Number.POSITIVE_INFINITY) return
    const wait = Math.max(delay, LEAST_LOOK)
    this.#lookAt = at + wait
    this.#deadline.arm(wait)
  }

  /** Some may have waited too long. */
  onDeadline(): void {
    // A fake clock may be ahead.
    const at = Math.max(now(), this.#lookAt)
    const since = at - this.#longestWait
    const late: Claim[] = []
    let oldest = Number.POSITIVE_INFINITY
    const origins: OriginPlaces[] = []
    for (let origin = this.#line.first; origin !== null; origin = origin.next) origins.push(origin)
    for (const origin of origins) {
      let claim = origin.claims.first
      while (claim !== null && claim.since <= since) {
        this.withdraw(origin, claim)
        late.push(claim)
        claim = origin.claims.first
      }
      if (claim !== null) oldest = Math.min(oldest, claim.since)
    }
    if (this.#waiting > 0) this.#arm(oldest - since, at)
    this.#refuse(late, () => new MaxConnectionsReachedError())
  }

  onBroken(error: Error): void {
    const waiting: Claim[] = []
    for (let origin = this.#line.first; origin !== null; origin = this.#line.first) {
      const claim = origin.claims.first!
      this.withdraw(origin, claim)
      waiting.push(claim)
    }
    this.#refuse(waiting, () => error)
  }

  #refuse(claims: readonly Claim[], errorOf: () => Error): void {
    for (const { context, claimant } of claims) runIn(context, claimant.onNoPlace, claimant, errorOf())
  }
}
