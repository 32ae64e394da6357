import { Agent, type Client, type Dispatcher, errors, interceptors, RetryAgent, RetryHandler } from 'undici'

const retry: RetryHandler.RetryCallback = (err, { state, opts }, cb) => {
  const { counter } = state
  const { maxRetries = 3, minTimeout = 1, timeoutFactor } = opts.retryOptions ?? {}
  if ('statusCode' in err && err.statusCode === 404) return cb(err)
  if ((err as NodeJS.ErrnoException).code === 'X') {
    cb(err)
    return
  }
  if (err instanceof errors.RequestRetryError && err.headers['retry-after'])
    console.log(opts.method, opts.path)
  if (counter > maxRetries) return cb(err)
  setTimeout(() => cb(null), minTimeout * (timeoutFactor ?? 2) ** counter)
}
export const o = {
  retry,
  maxRetries: 1,
  methods: ['GET', 'PUT'],
  statusCodes: [500],
  errorCodes: ['ECONNRESET'],
  retryAfter: true,
  maxTimeout: 1,
  throwOnError: false,
} satisfies RetryHandler.RetryOptions
export const agent = new RetryAgent(new Agent(), o)
export const i = interceptors.retry(o)
export function h(c: Client, handler: Dispatcher.DispatchHandler) {
  const opts: Dispatcher.DispatchOptions = { path: '/', method: 'GET' }
  return c.dispatch(
    opts,
    new RetryHandler({ ...opts, retryOptions: o }, { dispatch: c.dispatch.bind(c), handler }),
  )
}
export const viaArrow = (c: Client, handler: Dispatcher.DispatchHandler) =>
  new RetryHandler({ path: '/', method: 'GET' }, { dispatch: (o, h) => c.dispatch(o, h), handler })
export const ctx = (c: RetryHandler.RetryContext): RetryHandler.RetryState => c.state
