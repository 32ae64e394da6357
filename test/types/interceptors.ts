// The interceptors and their kin, as programs written for undici use them. Compiled, never run.
import { lookup } from 'node:dns'
import {
  Agent,
  type CircuitBreakerOptions,
  Client,
  CookieJar,
  type CookieJarLike,
  type CookieJarOptions,
  type CookiesOptions,
  type DeduplicateOptions,
  type Dispatcher,
  type DnsOptions,
  type DnsStorage,
  errors,
  interceptors,
  RetryAgent,
  RetryHandler,
  type RetryOptions,
  type ThrottleKey,
  type ThrottleOptions,
} from '../../src/index.ts'

const client = new Client('http://localhost')
const frozen = { maxRetries: 2, methods: ['GET', 'PUT'], statusCodes: [503], budget: { ratio: 0.1 } } as const
const options: RetryOptions = frozen
const resolving: DnsOptions = {
  maxTTL: 5000,
  affinity: 6,
  lookup: (origin: URL, options, callback) => lookup(origin.hostname, options, callback),
  pick: (_origin, { records }) => records[4]?.ips[0],
}
declare const storage: DnsStorage
const breaker: CircuitBreakerOptions = { threshold: 0.5 }
const perUser: ThrottleKey = ({ path }) => (path === '/health' ? null : path.split('/')[1])
const slow: ThrottleOptions = {
  rate: 10,
  burst: 2,
  concurrency: 4,
  adaptive: true,
  per: perUser,
  maxQueue: 100,
}
const sharing: DeduplicateOptions = { methods: ['GET', 'HEAD'], excludeHeaderNames: ['x-request-id'] }

const policy: RetryHandler.RetryCallback = (error: Error, { state, opts }, callback) => {
  if (state.counter > (opts.retryOptions?.maxRetries ?? 1)) callback(error)
  else callback(null)
}
const untyped: RetryOptions = {
  retry: (error, context, callback) => {
    const code: string | undefined = error.code
    const counter: number = context.state.counter
    return setTimeout(callback, counter, code === 'ECONNRESET' ? null : error)
  },
}

const suffixes: CookieJarOptions = { isPublicSuffix: (domain: string) => domain === 'co.uk', now: Date.now }
const jar: CookieJar = CookieJar.fromJSON(new CookieJar(suffixes).toJSON())
declare const otherJar: CookieJarLike
const keeping: CookiesOptions = { jar }
const withCookies: Agent = new Agent().compose(
  interceptors.cookies(keeping),
  interceptors.cookies({ jar: otherJar }),
)
void withCookies.request({ origin: 'http://localhost', path: '/', method: 'GET', cookies: false })
void withCookies.request({ origin: 'http://localhost', path: '/', method: 'GET', cookies: jar })
for (const { name, hostOnly, expires } of jar) void [name.length, hostOnly === true, expires?.getTime()]

const composed: Client = client.compose(interceptors.circuitBreaker(breaker), interceptors.retry(options))
const inList: Client = client.compose([
  interceptors.deduplicate(sharing),
  interceptors.deduplicate(),
  interceptors.throttle(slow),
  interceptors.throttle({ per: 'origin' }),
  interceptors.throttle(),
  // @ts-expect-error: no such key
  interceptors.throttle({ per: 'host' }),
  interceptors.retry(),
  interceptors.retry({ retry: policy }),
  interceptors.retry(untyped),
])
const resolved: Agent = new Agent().compose(interceptors.dns(resolving), interceptors.dns({ storage }))
const agent: Dispatcher = new RetryAgent(new Agent(), options)
const handler: Dispatcher.DispatchHandler = new RetryHandler(
  { path: '/', method: 'GET', retryOptions: options },
  {
    dispatch: client.dispatch.bind(client),
    handler: {
      onResponseError(_controller, error) {
        if (error instanceof errors.RequestRetryError) void [error.statusCode + 1, error.retryAfter]
        if (error instanceof errors.ThrottledError) void error.retrySafety
        if (error instanceof errors.CircuitOpenError) void (error.retryAfter + 1)
      },
    },
  },
)
void [composed, inList, resolved, agent, handler]

export async function requests(): Promise<void> {
  await composed.request({ path: '/', method: 'PUT', body: () => 'x', retryOptions: { maxRetries: 1 } })
  await composed.request({ path: '/', method: 'GET', priority: -3 })
  // @ts-expect-error: not a body
  await composed.request({ path: '/', method: 'PUT', body: () => 7 })
}

// @ts-expect-error: a family
interceptors.dns({ affinity: 5 })
// @ts-expect-error: a number
interceptors.retry({ maxRetries: '1' })
// @ts-expect-error: there is no such option
interceptors.retry({ retries: 1 })
// @ts-expect-error: one of three values
interceptors.retry({ resume: 'weak' })
