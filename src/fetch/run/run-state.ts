/** The states of one exchange of a fetch. */

/**
 * `dumping`: a redirect was followed or the response is opaque, and the body of this response is discarded.
 */
export type RunState = 'waiting' | 'responding' | 'dumping' | 'ended' | 'failed' | Aborted

/** The exchange was given up. Any value can be the reason. */
export type Aborted = { readonly reason: unknown }

export function isAborted(state: RunState): state is Aborted {
  return typeof state === 'object'
}
