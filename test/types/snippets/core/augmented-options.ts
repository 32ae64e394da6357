// Options of a program's own, read by its interceptor.
import { Agent, type Dispatcher, request } from 'undici'

declare module 'undici' {
  namespace Dispatcher {
    interface DispatchOptions {
      tenant?: string
    }
  }
}
const tenants: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (opts, handler) => {
  const tenant: string | undefined = opts.tenant
  return dispatch({ ...opts, headers: { ...(opts.headers as object), tenant: tenant ?? 'none' } }, handler)
}
const agent = new Agent().compose(tenants)
export const calls = [
  () => agent.request({ origin: 'http://localhost', path: '/', method: 'GET', tenant: 'a' }),
  () => request('http://localhost', { dispatcher: agent, tenant: 'b' }),
  () => agent.dispatch({ origin: 'http://localhost', path: '/', method: 'GET', tenant: 'c' }, {}),
]
