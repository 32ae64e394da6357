import { Agent, type Dispatcher, RetryHandler } from 'undici'

const agent = new Agent()
const handlers: RetryHandler.RetryHandlers = {
  dispatch: (opts, handler) => agent.dispatch(opts, handler),
  handler: {},
}
const opts = {
  origin: 'http://localhost',
  path: '/',
  method: 'GET' as const,
  retryOptions: { maxRetries: 2 },
}
const handler: Dispatcher.DispatchHandler = new RetryHandler(opts, handlers)
export const accepted: boolean = agent.dispatch(opts, handler)
export const callback: RetryHandler.OnRetryCallback = (error) => console.log(error?.message)
export const context: RetryHandler.RetryContext = { state: { counter: 1 }, opts }
export const state: RetryHandler.RetryState = context.state
