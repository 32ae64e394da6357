/**
 * Owns what a connector remembers of its hosts: the family of addresses that was connected to, where the
 * resolver had put the other one first. It goes first next time, so that a family that leads nowhere costs its
 * delay once, and for ten minutes at most: by then the network may be another (RFC 6555 §4.2).
 */
import type { LookupAddress } from 'node:dns'
import { RecentKeys } from '../base/collection/recent-keys.ts'

const KEPT_MS = 600_000

export class PreferredFamilies {
  readonly #winners: RecentKeys

  /** @param clock milliseconds; replaced by tests */
  constructor(clock?: () => number) {
    this.#winners = new RecentKeys(KEPT_MS, clock)
  }

  /** The resolver's order, except that a family that is remembered comes first. */
  order(hostname: string, addresses: readonly LookupAddress[]): readonly LookupAddress[] {
    if (this.#winners.isEmpty) return addresses
    const isPreferred = ({ family }: LookupAddress): boolean => this.#winners.has(keyOf(hostname, family))
    return [...addresses.filter(isPreferred), ...addresses.filter((address) => !isPreferred(address))]
  }

  /** `first`: the family that the resolver had put first. */
  note(hostname: string, winner: number, first: number): void {
    if (winner === first) this.#winners.delete(keyOf(hostname, winner === 4 ? 6 : 4))
    // Time is not added: that it wins where it goes first says nothing about the other one.
    else if (!this.#winners.has(keyOf(hostname, winner))) this.#winners.add(keyOf(hostname, winner))
  }
}

function keyOf(hostname: string, family: number): string {
  return `${family} ${hostname}`
}
