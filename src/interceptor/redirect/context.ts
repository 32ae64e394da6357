/** The context of a request that may be redirected: callers read from it which URLs were requested. */

import { withQuery } from '../../request/check-options.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { logicalOrigin } from '../../request/logical-origin.ts'

/**
 * The origin of requests that name none, as those of a `BalancedPool` do. It cannot be a real one: names under `invalid`
 * do not exist (RFC 6761 §6.4).
 */
const NO_ORIGIN = 'http://origin.invalid'

/** The URLs of a request and of the redirects that it has followed. */
export class RedirectContext {
  readonly #earlier: readonly URL[]
  readonly #origin: string | URL
  readonly #path: string
  readonly #query: unknown
  #url: URL | null | undefined

  /** `origin` is the one that the request goes to, whatever its options name. */
  constructor(earlier: readonly URL[], opts: DispatchOptions, origin: string | null | undefined) {
    this.#earlier = earlier
    this.#origin = origin || logicalOrigin(opts) || NO_ORIGIN
    this.#path = opts.path
    this.#query = opts.query
  }

  /** The URLs of all requests so far, the present one included. */
  get history(): URL[] {
    const url = this.url
    return url === null ? [...this.#earlier] : [...this.#earlier, url]
  }

  /** Parsed when it is needed, which is never for most requests. Null if the request has no URL, as `OPTIONS *`. */
  get url(): URL | null {
    if (this.#url === undefined) this.#url = this.#parse()
    return this.#url
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
