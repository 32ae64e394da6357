/** `interceptors.auth`: sends the credentials of a program to the origins that they are for, and to nobody else. */
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { OriginTable } from '../../relay/origin-key.ts'
import { refuse } from '../../relay/refusal.ts'
import { hasHeader, ownOptions } from '../../relay/request-headers.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { AuthenticatedRequest, type AuthTarget } from './authenticated-request.ts'
import { BasicCredentials } from './basic-credentials.ts'
import { BearerToken } from './bearer-token.ts'
import type { Credentials } from './credentials.ts'
import { DigestCredentials } from './digest-credentials.ts'
import { type AuthOptions, type AuthSettings, checkScope, originFor, readAuthOptions } from './options.ts'

/**
 * An interceptor that adds `authorization` to requests that have none, and answers a 401 with a new token, or with
 * the answer to its challenge, once for all requests that wait.
 */
export function auth(options: AuthOptions): Interceptor {
  const settings = readAuthOptions(options)
  const targets = new OriginTable((origin): AuthTarget => ({ origin, credentials: make(settings, origin) }))
  return ownInterceptor((dispatch, own, _life, held) => {
    checkScope(settings, own)
    return (given, handler) => {
      if (!isCall(given, handler)) return dispatch(given, handler)
      let opts: DispatchOptions
      let origin: string | null
      try {
        opts = ownOptions(given)
        origin = hasHeader(opts.headers, 'authorization') ? null : originFor(opts, settings, own)
      } catch (error) {
        return refuse(given, handler, error)
      }
      if (origin === null) return dispatch(opts, handler)
      return new AuthenticatedRequest({ opts, handler, dispatch, held }, targets.get(origin)).start()
    }
  })
}

function make({ bearer, basic, digest }: AuthSettings, origin: string): Credentials {
  if (bearer !== null) return new BearerToken(bearer, origin)
  return basic !== null ? new BasicCredentials(basic) : new DigestCredentials(digest!)
}
