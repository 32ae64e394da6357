/** `interceptors.cookies`: sends the cookies of a jar, and stores those that responses set. */
import { inCall } from '../../base/error/public-call.ts'
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { refuse } from '../../relay/refusal.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { CookieHandler } from './handler.ts'
import { type CookieJarLike, type CookiesOptions, jarOf, readJar } from './options.ts'
import { requestUrl } from './request-url.ts'
import { withCookies } from './sent-cookies.ts'

/**
 * An interceptor that keeps cookies in a jar. Each request gets those for its own URL: with `redirect`
 * outside of it, that is every request of a chain of redirects.
 */
export function cookies(options?: CookiesOptions | null): Interceptor {
  const ownJar = inCall(cookies, () => readJar(options))
  return ownInterceptor((dispatch, own) => (opts, handler) => {
    if (!isCall(opts, handler) || !hasPath(opts)) return dispatch(opts, handler)
    let jar: CookieJarLike | null
    let sent = opts
    try {
      jar = jarOf(opts, ownJar)
      // A cache further inside sees the cookies themselves, and would not serve a request that has a jar.
      if (opts.cookies !== undefined) sent = { ...opts, cookies: undefined }
      if (jar !== null && (jar as { size?: unknown }).size !== 0)
        sent = withCookies(sent, headerFor(jar, requestUrl(opts, own)))
    } catch (error) {
      return refuse(opts, handler, error)
    }
    return dispatch(sent, jar === null ? handler : new CookieHandler(handler, jar, opts, own))
  })
}

/**
 * False where the target is not a path of the origin: a tunnel, `OPTIONS *`, and a request in absolute form,
 * which goes to a proxy and is for another host.
 */
function hasPath({ method, path }: DispatchOptions): boolean {
  return method !== 'CONNECT' && typeof path === 'string' && path.startsWith('/')
}

function headerFor(jar: CookieJarLike, url: URL | null): string {
  if (url === null) return ''
  const header = jar.getCookieHeader(url)
  // A promise is not a header, and the request fails.
  ignoreRejection(header)
  return header
}
