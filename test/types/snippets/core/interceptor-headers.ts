// The interceptor of undici's documentation: it adds a header and looks at the response.
import { Client, DecoratorHandler, type Dispatcher } from 'undici'

const authorize =
  (token: string): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
    function authorized(opts: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
      const headers = { ...(opts.headers as Record<string, string>), authorization: `Bearer ${token}` }
      return dispatch({ ...opts, headers }, new DecoratorHandler(handler))
    }
export const client: Dispatcher.ComposedDispatcher = new Client('http://localhost').compose(authorize('x'))
export const dispatch: Dispatcher.Dispatch = client.dispatch.bind(client)
