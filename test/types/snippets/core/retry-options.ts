import { Agent, errors, interceptors, RetryAgent, type RetryHandler } from 'undici'

const options: RetryHandler.RetryOptions = {
  maxRetries: 5,
  minTimeout: 100,
  maxTimeout: 10_000,
  timeoutFactor: 2,
  retryAfter: true,
  methods: ['GET', 'PUT'],
  statusCodes: [429, 503],
  errorCodes: ['ECONNRESET', 'UND_ERR_SOCKET'],
  throwOnError: false,
  retry(err, { state, opts }, callback) {
    if (err instanceof errors.RequestRetryError && err.data.count > 3) return callback(err)
    const { counter } = state
    setTimeout(() => callback(null), counter * (opts.retryOptions?.minTimeout ?? 1))
    return null
  },
}
export const agent = new RetryAgent(new Agent(), options)
export const composed = new Agent().compose(interceptors.retry(options))
