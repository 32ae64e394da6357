/** `interceptors.dump`: reads bodies and discards them, so that their connections can be used again. */
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { finiteFrom, option, readOptions } from '../../options.ts'
import { refuse } from '../../relay/refusal.ts'
import { isCall } from '../../request/dispatching.ts'
import { DumpedRequest } from './dumped-request.ts'

/** Options of `interceptors.dump`. */
export interface DumpInterceptorOptions {
  /** The most bytes of a body that are read; a longer one fails its request. Default: 1048576. */
  maxSize?: number | null | undefined
}

const isSize = finiteFrom(1)
const REFUSAL = 'maxSize must be a number greater than 0'

/**
 * An interceptor that reads and discards the body of every response: callers get the head, and a body without
 * data.
 */
export function dump(options?: DumpInterceptorOptions | null): Interceptor {
  const { maxSize } = readOptions({ maxSize: option(1_048_576, isSize, REFUSAL) }, options)
  return ownInterceptor((dispatch) => (opts, handler) => {
    if (!isCall(opts, handler)) return dispatch(opts, handler)
    const limit = opts.dumpMaxSize ?? maxSize
    if (!isSize(limit)) return refuse(opts, handler, new InvalidArgumentError(REFUSAL))
    return new DumpedRequest({ opts, handler, dispatch }, limit).send()
  })
}
