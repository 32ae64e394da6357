/** What the parts that handle one request need of the cache, and what a request to the origin is for. */
import type { Dispatch, OwnOrigin } from '../dispatcher/compose.ts'
import type { Downstream } from '../relay/downstream.ts'
import type { RequestView } from '../relay/request-view.ts'
import type { HeldRequests } from '../request/dispatching.ts'
import type { Exchanges } from './exchanges.ts'
import type { HiddenFields } from './hidden-fields.ts'
import type { CacheSettings } from './options.ts'
import type { Presenter } from './presenter.ts'
import type { ForwardReason } from './rules/cache-status.ts'
import type { OriginHead } from './rules/invalidation.ts'
import type { CacheKey } from './store/cache-store.ts'
import type { Found } from './store/found.ts'
import type { StoreAccess } from './store/store-access.ts'

/** What a request to the origin is for. */
export interface Plan {
  readonly view: RequestView
  readonly reason: ForwardReason
  /** The stored response to confirm, and the key that it was found under. */
  readonly entry: Found | null
  readonly entryKey: CacheKey
  /** What requests for the same URL that may wait for this one have in common; null if none may. */
  readonly sharedId: string | null
  /** No caller gets the response: it is sent to bring a stored one up to date. */
  readonly isSilent?: true
}

/** The dispatcher that the cache stands before, as `compose()` describes it. */
export interface Below {
  readonly dispatch: Dispatch
  /** Null if it chooses among several, undefined if requests name it. */
  readonly origin: OwnOrigin
  readonly life: () => 'open' | 'closed' | 'destroyed'
  readonly held: HeldRequests | undefined
}

export interface CacheHost {
  readonly settings: CacheSettings
  readonly access: StoreAccess
  readonly presenter: Presenter
  readonly exchanges: Exchanges
  readonly hidden: HiddenFields
  readonly below: Below
  /** A final head came from the origin; null if none will come. */
  onResponse(view: RequestView, response: OriginHead | null, context: unknown): void
  /** Sends a request that no other follows. */
  forwardAlone(view: RequestView, downstream: Downstream): void
}
