/** `interceptors.decompress`: decodes response bodies. */

import { inCall } from '../../base/error/public-call.ts'
import { isDecodable } from '../../content-coding/decoders.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { OptionNames } from '../../option-names.ts'
import { readLoosely } from '../../options.ts'
import { hasHeader, withHeaders } from '../../relay/request-headers.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { DecompressedRequest } from './decompressed-request.ts'
import { DECOMPRESS_OPTIONS, type DecompressOptions } from './options.ts'

const NAMES = new OptionNames('interceptors.decompress()', DECOMPRESS_OPTIONS)

/**
 * An interceptor that decodes response bodies by their `content-encoding` (gzip, deflate, br, zstd) and
 * removes the fields about the coded form.
 */
export function decompress(options?: DecompressOptions | null): Interceptor {
  const settings = inCall(decompress, () => readLoosely(DECOMPRESS_OPTIONS, options, NAMES))
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
  return { ...opts, headers: withHeaders(opts.headers, { 'accept-encoding': acceptedCodings() }) }
}

/** What can be decoded, as the value of `accept-encoding`. */
export function acceptedCodings(): string {
  return isDecodable('zstd') ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br'
}
