/**
 * `interceptors.guard`: refuses requests by scheme, host and port before anything is resolved or dialled. It
 * sees what a request names, not where a name leads: that is for the guard of the connector.
 */
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { blockedError, type Refusal } from '../../guard/guard.ts'
import type { GuardPolicy } from '../../guard/options.ts'
import { type Place, placeOf, placeOfAuthority, placeOfSent } from '../../guard/place.ts'
import { OriginTable } from '../../relay/origin-key.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { logicalOrigin } from '../../request/logical-origin.ts'
import { describeUnsent } from '../../request/unsent-error.ts'
import {
  type GuardInterceptorOptions,
  type GuardInterceptorSettings,
  readGuardInterceptorOptions,
} from './options.ts'

/**
 * An interceptor that refuses requests to hosts, ports and schemes that are not allowed. Put it before
 * `redirect` in `compose()`: each redirect goes through it then.
 *
 * @example
 * const agent = new Agent({ connect: { guard: 'public-only' } }).compose(
 *   interceptors.guard({ schemes: ['https'] }),
 *   interceptors.redirect({ maxRedirections: 5 }),
 * )
 */
export function guard(options?: GuardPolicy | GuardInterceptorOptions | null): Interceptor {
  const checks = new OriginChecks(readGuardInterceptorOptions(options))
  return ownInterceptor((dispatch) => (opts, handler) => {
    if (!isCall(opts, handler)) return dispatch(opts, handler)
    const refusal = checks.refuse(opts)
    if (refusal === null) return dispatch(opts, handler)
    const error = describeUnsent(blockedError(refusal), opts, String(opts.origin ?? ''), 'queued')
    destroyBodyOf(opts, error)
    handler.onResponseError?.(null, error)
    return true
  })
}

class OriginChecks {
  readonly #settings: GuardInterceptorSettings
  readonly #known = new OriginTable((origin) => this.#refusePlace(placeOf(origin)))

  constructor(settings: GuardInterceptorSettings) {
    this.#settings = settings
  }

  /** A dispatcher with upstreams of its own gets requests without an origin. */
  refuse(opts: DispatchOptions): Refusal | null {
    const { origin, path, method } = opts
    const named = logicalOrigin(opts)
    return (
      (origin ? this.#refuseOrigin(String(origin)) : null) ??
      (named && named !== origin ? this.#refuseOrigin(String(named)) : null) ??
      (typeof path === 'string' ? this.#refusePath(path, method) : null)
    )
  }

  #refuseOrigin(origin: string): Refusal | null {
    return this.#settings.guard.isConstant ? this.#known.get(origin) : this.#refusePlace(placeOf(origin))
  }

  /** What the receiver is asked to connect to: the target of a tunnel, or of a request in absolute form. */
  #refusePath(path: string, method: string): Refusal | null {
    if (path.startsWith('/') || path === '*') return null
    return this.#refusePlace(method === 'CONNECT' ? placeOfAuthority(path) : placeOfSent(path))
  }

  #refusePlace(place: Place | null): Refusal | null {
    const { guard, schemes } = this.#settings
    if (place === null) {
      return { rule: 'ambiguous-url', entry: null, hostname: null, address: null, port: null }
    }
    const { protocol, hostname, port } = place
    if (!schemes.has(protocol)) return { rule: 'scheme', entry: protocol, hostname, address: null, port }
    return guard.refuseName(hostname, port)
  }
}
