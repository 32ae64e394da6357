import { Agent, interceptors, RetryAgent, type RetryHandler } from 'undici'

const options: RetryHandler.RetryOptions = {
  maxRetries: 3,
  minTimeout: 500,
  maxTimeout: 10_000,
  timeoutFactor: 2,
  retryAfter: true,
  methods: ['GET', 'PUT'],
  statusCodes: [502, 503],
  errorCodes: ['ECONNRESET', 'UND_ERR_SOCKET'],
  throwOnError: false,
  retry: (error, { state, opts }, callback) => {
    const { counter } = state
    if (counter > (opts.retryOptions?.maxRetries ?? 5)) return callback(error)
    setTimeout(() => callback(null), 10 * counter)
  },
}
export const agents = [new RetryAgent(new Agent(), options), new Agent().compose(interceptors.retry(options))]
