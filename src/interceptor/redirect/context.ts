/** The context of a request that may be redirected: callers read from it which URLs were requested. */

import { withQuery } from '../../request/check-options.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { logicalOrigin } from '../../request/logical-origin.ts'

/**
 * The origin of requests that name none, as those of a `BalancedPool` do. It cannot be a real one: names
 * under `invalid` do not exist (RFC 6761 §6.4).
 */
const NO_ORIGIN = 'http://origin.invalid'

/** The URLs of a request and of the redirects that it has followed. */
export interface RedirectContext {
  /** The URLs of all requests so far, the present one included. */
  history: URL[]
}

/**
 * A plain object with the fields of the context below. The URLs are read when they are needed: most callers
 * never do.
 */
export function redirectContext(below: unknown, urls: VisitedUrls): RedirectContext {
  const fields = typeof below === 'object' ? below : null
  return {
    ...fields,
    get history(): URL[] {
      const history = urls.all()
      Object.defineProperty(this, 'history', {
        value: history,
        enumerable: true,
        writable: true,
        configurable: true,
      })
      return history
    },
    set history(value: URL[]) {
      Object.defineProperty(this, 'history', { value, enumerable: true, writable: true, configurable: true })
    },
  }
}

/** The URLs of the requests of a chain up to one of them. */
export class VisitedUrls {
  readonly #earlier: VisitedUrls | null
  readonly #origin: string | URL
  readonly #path: string
  readonly #query: unknown
  #last: URL | null | undefined

  /** `origin` is the one that the request goes to, whatever its options name. */
  constructor(opts: DispatchOptions, origin: string | null | undefined, earlier: VisitedUrls | null) {
    this.#earlier = earlier
    this.#origin = origin || logicalOrigin(opts) || NO_ORIGIN
    this.#path = opts.path
    this.#query = opts.query
  }

  /** In the order in which they were requested. Each caller gets its own. */
  all(): URL[] {
    const { last } = this
    const earlier = this.#earlier?.all() ?? []
    return last === null ? earlier : [...earlier, new URL(last)]
  }

  /**
   * Parsed when it is needed, which is never for most requests. Null if the request has no URL, as `OPTIONS
   * *`.
   */
  get last(): URL | null {
    if (this.#last === undefined) this.#last = this.#parse()
    return this.#last
  }

  #parse(): URL | null {
    const path = this.#path
    // A request in absolute form goes through a proxy: another URL is not this dispatcher's to ask for.
    if (!path.startsWith('/')) return null
    try {
      const { origin } = new URL(this.#origin)
      // Not as a relative reference: `//host` in a path is not a host.
      return new URL(origin + withQuery(path, this.#query))
    } catch {
      return null
    }
  }
}
