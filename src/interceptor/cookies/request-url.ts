/** The URLs of requests, by which their cookies go. */
import { OriginReader } from '../../base/address/origin-reader.ts'
import type { OwnOrigin } from '../../dispatcher/compose.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { logicalOrigin } from '../../request/logical-origin.ts'

export class RequestUrls {
  readonly #origins = new OriginReader()
  readonly #own: OwnOrigin

  /** `own` is the origin that requests go to, whatever their options name. */
  constructor(own: OwnOrigin) {
    this.#own = own
  }

  /**
   * Null if the request names no origin, as those of a `BalancedPool` may. The query is left out where it is
   * an option: cookies do not depend on it.
   */
  of(opts: DispatchOptions): URL | null {
    const origin = this.#origins.read(this.#own || logicalOrigin(opts))
    if (origin === null) return null
    try {
      // Not as a relative reference: `//host` in a path is not a host.
      return new URL(origin + opts.path)
    } catch {
      // The dispatcher has the words for it.
      return null
    }
  }
}
