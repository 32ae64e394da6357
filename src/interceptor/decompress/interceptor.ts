/** `interceptors.decompress`: decodes response bodies. */

import { isDecodable } from '../../content-coding/decoders.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { readLoosely } from '../../options.ts'
import { hasHeader, withHeaders } from '../../relay/request-headers.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { DecompressedRequest } from './decompressed-request.ts'
import { DECOMPRESS_OPTIONS, type DecompressOptions } from './options.ts'

/**
 * An interceptor that decodes response bodies by their `content-encoding` (gzip, deflate, br, zstd) and
 * removes the fields about the coded form.
 */
export function decompress(options?: DecompressOptions | null): Interceptor {
  const settings = readLoosely(DECOMPRESS_OPTIONS, options)
  return ownInterceptor((dispatch) => (opts, handler) => {
    if (!isCall(opts, handler) || opts.upgrade || opts.method === 'CONNECT') return dispatch(opts, handler)
    const sent = settings.acceptEncoding ? accepting(opts) : opts
    if (opts.method === 'HEAD') return dispatch(sent, handler)
    return new DecompressedRequest({ opts: sent, handler, dispatch }, settings).send()
  })
}

/** Asks for all codings. A range is of the coded form, which the caller would not expect. */
function accepting(opts: DispatchOptions): DispatchOptions {
  if (hasHeader(opts.headers, 'accept-encoding') || hasHeader(opts.headers, 'range')) return opts
  const codings = isDecodable('zstd') ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br'
  return { ...opts, headers: withHeaders(opts.headers, { 'accept-encoding': codings }) }
}
