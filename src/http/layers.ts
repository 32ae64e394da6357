/**
 * The interceptors of a client in their order, put together once for each dispatcher. From the network
 * outwards:
 *
 * - `guard` sees each request that really goes out, those of redirects and retries included.
 * - `throttle`: each attempt waits for its turn; what `cache` answers does not count.
 * - `circuitBreaker`: each attempt counts, and no attempt is made while it is open.
 * - `auth`: each attempt has the token, or the nonce, of its time.
 * - `retry`: only the request that has failed is repeated, not what was redirected to it.
 * - `cache` stores what the server has sent: compressed, complete, and each URL of a chain of redirects.
 * - `cookies` outside the cache: a stored response does not set its cookies again.
 * - `decompress` outside `retry`, which continues a download by the bytes of the server.
 * - `redirect`: each request of a chain goes through all of the above.
 *
 * The last two are only put around the responses that need them (diversion.ts).
 */
import { compose, type Interceptor, ownInterceptor } from '../dispatcher/compose.ts'
import { InvalidArgumentError } from '../errors.ts'
import { retry } from '../interceptor/retry/interceptor.ts'
import type { RetryOptions } from '../interceptor/retry/options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { OwnOrigin } from '../request/logical-origin.ts'
import type { BeforeRetry, HttpRetry } from './options.ts'
import type { CallSettings, Settings } from './settings.ts'

/** What of a dispatcher says where all its requests go. */
interface Composable extends Dispatching {
  composedOrigin?(): OwnOrigin
}

export function composed(dispatcher: Dispatching, settings: Settings): Dispatching {
  const own = ownOrigin(dispatcher)
  if (own && settings.base !== null && settings.base.origin !== own) {
    throw new InvalidArgumentError(`the dispatcher sends to ${own}, not to the baseUrl ${settings.base.href}`)
  }
  if (settings.auth !== null && settings.auth.origins === undefined && !settings.base && own === undefined) {
    throw new InvalidArgumentError('auth needs a baseUrl, or its option origins: who gets the credentials?')
  }
  const { guard, throttle, circuitBreaker, auth, cache, cookies } = settings.layers
  const list = [guard, throttle, circuitBreaker, auth, retries(settings), cache, cookies]
  return compose(dispatcher, list, own)
}

/** The only origin that the dispatcher sends to, if there is one. */
export function ownOrigin(dispatcher: Composable): OwnOrigin {
  return typeof dispatcher.composedOrigin === 'function' ? dispatcher.composedOrigin() : undefined
}

/** The options of the interceptor; null if the call is not repeated and its attempts have no limit. */
export function retryOptionsOf({ retry: given, attempt, hooks }: CallSettings): RetryOptions | null {
  if (given === null && attempt === 0) return null
  const { beforeRetry } = hooks
  return {
    // The last response is an answer like any other: its body is in the error.
    throwOnError: false,
    ...(given ?? { maxRetries: 0 }),
    ...(attempt === 0 ? null : { attemptTimeout: attempt }),
    ...(beforeRetry.length === 0 ? null : { onRetry: (retry: HttpRetry) => inTurn(beforeRetry, retry) }),
  }
}

async function inTurn(hooks: readonly BeforeRetry[], retry: HttpRetry): Promise<void> {
  for (const hook of hooks) await hook(retry)
}

/** Where the client has no retries, a call may have some: others pass. */
function retries(settings: Settings): Interceptor {
  const options = retryOptionsOf(settings)
  const layer = retry(options)
  if (options !== null) return layer
  return ownInterceptor((dispatch, ...rest) => {
    const repeated = layer(dispatch, ...rest)
    return (opts, handler) => (opts.retryOptions ? repeated : dispatch)(opts, handler)
  })
}
