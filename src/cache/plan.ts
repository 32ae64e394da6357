/** What a request to the origin is for, and how others see it while it is under way. */

import type { RequestView } from '../relay/request-view.ts'
import type { ForwardReason } from './rules/cache-status.ts'
import type { CacheGetResult, CacheKey } from './store/cache-store.ts'

export interface Plan {
  readonly view: RequestView
  readonly reason: ForwardReason
  /** The stored response to confirm, and the key that it was found under. */
  readonly entry: CacheGetResult | null
  readonly entryKey: CacheKey
  /** Requests for the same URL may wait for this one. */
  readonly shared: boolean
}

/** A request that is under way. */
export interface Flight {
  readonly plan: Plan
  /** Its caller has had the final call. */
  readonly settled: boolean
  /** The URL was invalidated. */
  invalidate(): void
  /** The response is not wanted any more. */
  giveUp(reason: unknown): void
}
