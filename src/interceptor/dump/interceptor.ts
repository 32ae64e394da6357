/** `interceptors.dump`: reads bodies and discards them, so that their connections can be used again. */
import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { OptionNames } from '../../option-names.ts'
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
const OPTIONS = { maxSize: option(1_048_576, isSize, REFUSAL) }
const NAMES = new OptionNames('interceptors.dump()', OPTIONS)

/**
 * An interceptor that reads and discards the body of every response: callers get the head, and a body without
 * data.
 */
export function dump(options?: DumpInterceptorOptions | null): Interceptor {
  const { maxSize } = inCall(dump, () => readOptions(OPTIONS, options, NAMES))
  return ownInterceptor((dispatch) => (opts, handler) => {
    if (!isCall(opts, handler)) return dispatch(opts, handler)
    const limit = opts.dumpMaxSize ?? maxSize
    if (!isSize(limit)) return refuse(opts, handler, new InvalidArgumentError(REFUSAL))
    return new DumpedRequest({ opts, handler, dispatch }, limit).send()
  })
}
