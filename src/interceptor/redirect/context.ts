/** The context of a request that may be redirected: callers read from it which URLs were requested. */

import type { OwnOrigin } from '../../dispatcher/compose.ts'
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

const REQUESTS = Symbol('requests')

/**
 * The URLs are read when they are needed: most callers never do. One accessor for all contexts: with one of
 * its own, each would have a shape of its own, which the runtime keeps longer than the request.
 */
const HISTORY: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: RedirectContext & { readonly [REQUESTS]: readonly Visited[] }): URL[] {
    this.history = this[REQUESTS].map(urlOf).filter((url) => url !== null)
    return this.history
  },
  set(this: RedirectContext, value: URL[]) {
    Object.defineProperty(this, 'history', { value, enumerable: true, writable: true, configurable: true })
  },
}

/** A plain object with the fields of the context below. */
export function redirectContext(below: unknown, requests: readonly Visited[]): RedirectContext {
  const context = typeof below === 'object' ? { ...below } : {}
  Object.defineProperty(context, REQUESTS, { value: requests })
  return Object.defineProperty(context, 'history', HISTORY) as RedirectContext
}

/** What the URL of a request is made of. Most are never parsed. */
export interface Visited {
  readonly origin: string | URL
  readonly path: string
  readonly query: unknown
}

/** `origin` is the one that the request goes to, whatever its options name. */
export function visited(opts: DispatchOptions, origin: OwnOrigin): Visited {
  return { origin: origin || logicalOrigin(opts) || NO_ORIGIN, path: opts.path, query: opts.query }
}

/** Null if the request has no URL, as `OPTIONS *`. */
export function urlOf({ origin, path, query }: Visited): URL | null {
  // A request in absolute form goes through a proxy: another URL is not this dispatcher's to ask for.
  if (!path.startsWith('/')) return null
  try {
    // Not as a relative reference: `//host` in a path is not a host.
    return new URL(new URL(origin).origin + withQuery(path, query))
  } catch {
    return null
  }
}
