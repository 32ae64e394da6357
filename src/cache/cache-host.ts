/** What the parts of the cache that handle one request need of the whole. */
import type { Dispatch } from '../dispatcher/compose.ts'
import type { Caller } from '../relay/caller.ts'
import type { RequestView } from '../relay/request-view.ts'
import type { Flights } from './flights.ts'
import type { InFlight } from './in-flight.ts'
import type { CacheSettings } from './options.ts'
import type { Presenter } from './presenter.ts'
import type { OriginHead } from './rules/invalidation.ts'
import type { StoreAccess } from './store/store-access.ts'

export interface CacheHost {
  readonly settings: CacheSettings
  readonly access: StoreAccess
  readonly presenter: Presenter
  readonly inFlight: InFlight
  readonly flights: Flights
  readonly dispatch: Dispatch
  /** Requests fail with the argument of `destroy()`, which may look like any failure. */
  readonly isDestroyed: () => boolean
  /** The limit of the dispatcher's responses, as far as it is known; stored ones obey it as well. */
  maxResponseSize: number | undefined
  /** A final head came from the origin; null if none will come. */
  onResponse(view: RequestView, response: OriginHead | null, context: unknown): void
  /** Sends a request that no other follows. */
  forwardAlone(view: RequestView, caller: Caller): void
}
