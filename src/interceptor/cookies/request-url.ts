/** The URL that selects the cookies of a request. */
import { originOf } from '../../relay/origin-key.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { OwnOrigin } from '../../request/logical-origin.ts'

/**
 * Null if the request names no origin, as those of a `BalancedPool` may. The query is left out where it is an
 * option: cookies do not depend on it.
 */
export function requestUrl(opts: DispatchOptions, own: OwnOrigin): URL | null {
  const origin = originOf(opts, own)
  // Not as a relative reference: `//host` in a path is not a host.
  const text = `${origin}${opts.path}`
  return origin !== null && URL.canParse(text) ? new URL(text) : null
}
