// Interceptors with state, in a list.
import {
  Agent,
  Client,
  cacheStores,
  DecoratorHandler,
  type Dispatcher,
  interceptors,
  RedirectHandler,
} from 'undici'

const token: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(
    { ...options, headers: { ...(options.headers as Record<string, string>), authorization: 'Bearer a' } },
    handler,
  )
class Timed extends DecoratorHandler implements Dispatcher.DispatchHandler {
  readonly start = Date.now()
  onResponseStarted(): void {
    console.log(Date.now() - this.start)
  }
}
const timed: Dispatcher.DispatchInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, new Timed(handler))
const list: Dispatcher.DispatcherComposeInterceptor[] = [
  token,
  timed,
  interceptors.redirect({ maxRedirections: 3, throwOnMaxRedirect: true }),
  interceptors.dump({ maxSize: 1024 }),
  interceptors.responseError(),
  interceptors.decompress({ skipStatusCodes: [204, 304] }),
  interceptors.deduplicate({ methods: ['GET'], skipHeaderNames: ['range'] }),
  interceptors.cache({
    store: new cacheStores.MemoryCacheStore({ maxSize: 10, maxCount: 5, maxEntrySize: 2 }),
    methods: ['GET'],
  }),
]
export const agent: Dispatcher = new Agent().compose(list).compose(...list)
export const client: Dispatcher.ComposedDispatcher = new Client('http://localhost').compose(list)
export const handler = typeof RedirectHandler
