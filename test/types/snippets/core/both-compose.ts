// Interceptors of one library on a dispatcher of the other.
import { Agent, type Dispatcher, interceptors } from 'undici'
import * as undici from 'undici8'

export const one = new Agent().compose(undici.interceptors.redirect({ maxRedirections: 3 }))
export const two = new undici.Agent().compose(interceptors.retry({ maxRetries: 2 }), interceptors.dump())
const add: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (opts, handler) => dispatch(opts, handler)
export const three = new undici.Agent().compose([add])
