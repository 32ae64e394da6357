/** The interceptors of one origin, or of all origins that a RegExp or a function accepts. */
import type { Interception, OriginMatcher } from './match/interception.ts'

export class OriginMocks {
  readonly origin: OriginMatcher
  /** In order of registration, those that are used up included. */
  readonly all: Interception[] = []
  /** Those that still reply. */
  readonly live: Set<Interception> = new Set()

  constructor(origin: OriginMatcher) {
    this.origin = origin
  }

  add(interception: Interception): void {
    this.all.push(interception)
    this.live.add(interception)
  }

  /** Counts a match. */
  use(interception: Interception): void {
    interception.timesInvoked++
    if (interception.consumed) this.live.delete(interception)
  }

  clear(): void {
    this.all.length = 0
    this.live.clear()
  }
}
