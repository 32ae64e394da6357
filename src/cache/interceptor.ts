/** `interceptors.cache()`: a cache of responses (RFC 9111) in front of a dispatcher. */
import { inCall } from '../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../dispatcher/compose.ts'
import { toDispatchHandler } from '../handler/legacy-handler.ts'
import { CacheLayer } from './layer.ts'
import { type CacheOptions, readCacheOptions } from './options.ts'
import { StoreAccess } from './store/store-access.ts'

/**
 * Stores responses, and serves them as long as HTTP allows.
 *
 * @example
 * const client = new Client('https://example.com').compose(interceptors.cache())
 */
export function cache(options?: CacheOptions): Interceptor {
  const settings = inCall(cache, () => readCacheOptions(options))
  const access = new StoreAccess(settings.store)
  return ownInterceptor((dispatch, origin, life = () => 'open', held) => {
    const layer = new CacheLayer(settings, access, { dispatch, origin, life, held })
    return (opts, handler) => layer.handle(opts, toDispatchHandler(handler))
  })
}
