/** `interceptors.redirect`: follows redirects. */
import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { refuse } from '../../relay/refusal.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { type RedirectOptions, type RedirectSettings, readRedirectOptions, settingsOf } from './options.ts'
import { RedirectedRequest } from './redirected-request.ts'

/**
 * An interceptor that follows up to `maxRedirections` redirects. The caller gets the last response; the URLs
 * of all requests are in `context.history`.
 */
export function redirect(options?: RedirectOptions | null): Interceptor {
  const defaults = inCall(redirect, () => readRedirectOptions(options))
  return ownInterceptor((dispatch, own) => (opts, handler) => {
    if (!isCall(opts, handler)) return dispatch(opts, handler)
    let settings: RedirectSettings
    try {
      settings = settingsOf(defaults, opts)
    } catch (error) {
      return refuse(opts, handler, error)
    }
    if (settings.maxRedirections === 0 || opts.method === 'CONNECT') {
      return dispatch(opts.maxRedirections ? withoutLimit(opts) : opts, handler)
    }
    // A dispatcher refuses a limit that it cannot apply.
    const sent = opts.maxRedirections === undefined ? opts : withoutLimit(opts)
    return new RedirectedRequest({ opts: sent, handler, dispatch, own }, settings).send()
  })
}

export function withoutLimit(opts: DispatchOptions): DispatchOptions {
  return { ...opts, maxRedirections: 0 }
}
