/** `interceptors.compress`: compresses request bodies. */

import { RecentKeys } from '../../base/collection/recent-keys.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { originKey } from '../../relay/origin-key.ts'
import { refuse } from '../../relay/refusal.ts'
import { ownOptions } from '../../relay/request-headers.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { codedOptions } from './coded-options.ts'
import { CompressedRequest } from './compressed-request.ts'
import { type CompressOptions, readCompressOptions } from './options.ts'

/** Milliseconds for which an origin gets no compressed bodies after it has refused one. */
const REFUSAL_LIFE = 60 * 60 * 1000

/**
 * An interceptor that compresses request bodies, unless they are small or compressed already. If a server
 * answers 415, the request is sent again as it was given.
 */
export function compress(options?: CompressOptions | null): Interceptor {
  const settings = readCompressOptions(options)
  const refusing = new RecentKeys(REFUSAL_LIFE)
  return ownInterceptor((dispatch, own) => (opts, handler) => {
    const isPlain = !isCall(opts, handler) || opts.upgrade || opts.method === 'CONNECT' || !opts.body
    if (isPlain) return dispatch(opts, handler)
    const origin = originKey(opts, own)
    if (refusing.has(origin)) return dispatch(opts, handler)
    let plain: DispatchOptions
    let coded: DispatchOptions | null
    try {
      plain = ownOptions(opts)
      coded = codedOptions(plain, settings)
    } catch (error) {
      return refuse(opts, handler, error)
    }
    if (coded === null) return dispatch(plain, handler)
    const { coding } = settings
    return new CompressedRequest(
      { opts: coded, handler, dispatch },
      { coding, origin, refusing, plain },
    ).send()
  })
}
