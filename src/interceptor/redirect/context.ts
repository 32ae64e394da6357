/** The context of a request that may be redirected: callers read from it which URLs were requested. */

import type { HeaderObject } from '../../protocol/header-block.ts'
import { withQuery } from '../../request/check-options.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { logicalOrigin } from '../../request/logical-origin.ts'

/**
 * The origin of requests that name none, as those of a `BalancedPool` do. It cannot be a real one: names under `invalid`
 * do not exist (RFC 6761 §6.4).
 */
const NO_ORIGIN = 'http://origin.invalid'

/** A response that was followed. A cache outside has to know it: what comes in the end belongs to another URL. */
export interface FollowedRedirect {
  readonly statusCode: number
  readonly headers: HeaderObject
  /** When its head arrived. */
  readonly responseTime: number
}

/** `unknown`: another library has followed some, and shows no more than their URLs. */
export type Followed = readonly FollowedRedirect[] | 'unknown'

export const NONE: readonly FollowedRedirect[] = []

/** The redirects that led to the request of this context. */
export function followedRedirects(context: unknown): Followed {
  if (typeof context !== 'object' || context === null) return NONE
  if (context instanceof RedirectContext) return followedOf(context)
  const { history } = context as { history?: unknown }
  return Array.isArray(history) && history.length > 0 ? 'unknown' : NONE
}

/** The URLs that were requested, if redirects were followed. */
export function requestedUrls(context: unknown): readonly URL[] {
  if (followedRedirects(context).length === 0) return []
  return (context as { history: readonly unknown[] }).history.filter((url) => url instanceof URL)
}

// The class is a public type: what only the library needs is not among its members.
let followedOf: (context: RedirectContext) => Followed
/** Takes over the fields of the context of the dispatcher below. */
export let adoptContext: (context: RedirectContext, below: object) => void

/** The URLs of a request and of the redirects that it has followed. */
export class RedirectContext {
  readonly #earlier: readonly URL[]
  #followed: Followed
  readonly #origin: string | URL
  readonly #path: string
  readonly #query: unknown
  #url: URL | null | undefined

  /** `origin` is the one that the request goes to, whatever its options name. */
  constructor(
    opts: DispatchOptions,
    origin: string | null | undefined,
    earlier: readonly URL[],
    followed: Followed,
  ) {
    this.#earlier = earlier
    this.#followed = followed
    this.#origin = origin || logicalOrigin(opts) || NO_ORIGIN
    this.#path = opts.path
    this.#query = opts.query
  }

  static {
    followedOf = (context) => context.#followed
    adoptContext = (context, below) => {
      for (const name of Object.keys(below)) {
        if (!(name in RedirectContext.prototype))
          Object.assign(context, { [name]: below[name as keyof object] })
      }
      const followed = followedRedirects(below)
      if (context.#followed !== 'unknown' && followed !== NONE) {
        context.#followed = followed === 'unknown' ? followed : [...context.#followed, ...followed]
      }
    }
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
