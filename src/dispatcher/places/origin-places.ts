/**
 * What one dispatcher of an agent has of its connections: how many places it holds, and the connects of it
 * that wait for one. An item in the line of those that wait.
 */
import { type Linked, LinkedList } from '../../base/collection/linked-list.ts'
import { type CallContext, captureContext } from '../../base/loop/call-context.ts'
import { now } from '../../base/loop/clock.ts'
import type { Holder, Place } from './place.ts'

/** What a place is for. Exactly one of these is called, unless the claim is withdrawn. */
export interface Claimant {
  onPlace(place: Place): void
  onNoPlace(error: Error): void
}

/** One connect that waits for a place. */
export class Claim implements Linked<Claim> {
  previous: Claim | null = null
  next: Claim | null = null
  listedIn: LinkedList<Claim> | null = null
  readonly claimant: Claimant
  readonly since: number = now()
  /** Places become free in the context of whoever had them. */
  readonly context: CallContext | null = captureContext()

  constructor(claimant: Claimant) {
    this.claimant = claimant
  }
}

/** The limit. */
export interface ClaimHost {
  /** Returns whether the claim waits now; otherwise its claimant was called. */
  ask(origin: OriginPlaces, claim: Claim): boolean
  withdraw(origin: OriginPlaces, claim: Claim): void
}

export class OriginPlaces implements Linked<OriginPlaces>, Holder {
  previous: OriginPlaces | null = null
  next: OriginPlaces | null = null
  listedIn: LinkedList<OriginPlaces> | null = null
  readonly #host: ClaimHost
  /** Oldest first. */
  readonly claims: LinkedList<Claim> = new LinkedList<Claim>()
  held = 0

  constructor(host: ClaimHost) {
    this.#host = host
  }

  /** A connect waits for a place: another one would wait behind it. */
  get isWaiting(): boolean {
    return this.claims.size > 0
  }

  /** Calls back within this call if there is a place. Returns what waits; null if nothing does. */
  ask(claimant: Claimant): Claim | null {
    const claim = new Claim(claimant)
    return this.#host.ask(this, claim) ? claim : null
  }

  /** The place is not needed any more. */
  withdraw(claim: Claim): void {
    this.#host.withdraw(this, claim)
  }
}
