import {
  Agent,
  DecoratorHandler,
  type Dispatcher,
  getGlobalDispatcher,
  interceptors,
  setGlobalDispatcher,
} from 'undici'
export function auth(token: () => string | Promise<string>): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (opts, handler) => {
    const t = token()
    if (typeof t === 'string')
      return dispatch(
        { ...opts, headers: { ...(opts.headers as Record<string, string>), authorization: t } },
        handler,
      )
    t.then((v) => dispatch({ ...opts, headers: { authorization: v } }, handler))
    return true
  }
}
export const logging: Dispatcher.DispatchInterceptor = (dispatch) => {
  return function log(opts, handler) {
    const start = Date.now()
    class H extends DecoratorHandler {
      onResponseEnd(
        controller: Dispatcher.DispatchController,
        trailers: Record<string, string | string[] | undefined>,
      ) {
        console.log(opts.method, String(opts.origin) + opts.path, Date.now() - start)
        void controller
        void trailers
      }
    }
    return dispatch(opts, new H(handler))
  }
}
export const plain: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (opts, handler) =>
  dispatch(opts, {
    onRequestStart: (c, ctx) => handler.onRequestStart?.(c, ctx),
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart(c, status, headers, message) {
      if (status > 500) c.abort(new Error(message))
      handler.onResponseStart?.(c, status, { ...headers, 'x-a': 'b' }, message)
    },
    onResponseData: (c, chunk) => {
      c.pause()
      handler.onResponseData?.(c, Buffer.concat([chunk]))
      c.resume()
    },
    onResponseEnd: (c, t) => handler.onResponseEnd?.(c, t),
    onResponseError: (c, e) => handler.onResponseError?.(c, e),
  })
const list: Dispatcher.DispatcherComposeInterceptor[] = [
  auth(() => 'x'),
  logging,
  plain,
  interceptors.retry(),
  interceptors.dns(),
]
setGlobalDispatcher(new Agent().compose(...list))
setGlobalDispatcher(getGlobalDispatcher().compose(list))
export const dispatch: Dispatcher.Dispatch = (o, h) => getGlobalDispatcher().dispatch(o, h)
export const bound: Dispatcher['dispatch'] = getGlobalDispatcher().dispatch.bind(getGlobalDispatcher())
export const composed: Dispatcher.ComposedDispatcher = new Agent().compose(logging)
