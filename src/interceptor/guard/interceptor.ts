/**
 * `interceptors.guard`: refuses requests by scheme, host and port before anything is resolved or dialled. It
 * sees what a request names, not where a name leads: that is for the guard of the connector.
 */
import { inCall } from '../../base/error/public-call.ts'
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
  const refusalOf = checks(inCall(guard, () => readGuardInterceptorOptions(options)))
  return ownInterceptor((dispatch) => (opts, handler) => {
    if (!isCall(opts, handler)) return dispatch(opts, handler)
    const refusal = refusalOf(opts)
    if (refusal === null) return dispatch(opts, handler)
    const error = describeUnsent(blockedError(refusal), opts, String(opts.origin ?? ''), 'queued')
    destroyBodyOf(opts, error)
    handler.onResponseError?.(null, error)
    return true
  })
}

function checks({ guard, schemes }: GuardInterceptorSettings): (opts: DispatchOptions) => Refusal | null {
  const ofPlace = (place: Place | null): Refusal | null => {
    if (place === null) return { rule: 'ambiguous-url' }
    const { protocol, hostname, port } = place
    if (!schemes.has(protocol)) return { rule: 'scheme', entry: protocol, hostname, address: null, port }
    return guard.refuseName(hostname, port)
  }
  const known = new OriginTable((origin) => ofPlace(placeOf(origin)))
  const ofOrigin = (origin: string): Refusal | null =>
    guard.isConstant ? known.get(origin) : ofPlace(placeOf(origin))
  // What the receiver is asked to connect to: the target of a tunnel, or of a request in absolute form.
  const ofPath = (path: string, method: string): Refusal | null =>
    path.startsWith('/') || path === '*'
      ? null
      : ofPlace(method === 'CONNECT' ? placeOfAuthority(path) : placeOfSent(path))
  return (opts) => {
    const { origin, path, method } = opts
    const named = logicalOrigin(opts)
    return (
      // A dispatcher with upstreams of its own gets requests without an origin.
      (origin ? ofOrigin(String(origin)) : null) ??
      (named && named !== origin ? ofOrigin(String(named)) : null) ??
      (typeof path === 'string' ? ofPath(path, method) : null)
    )
  }
}
