import { type Dispatcher, interceptors } from 'undici'

type RetryOptions = Parameters<typeof interceptors.retry>[0]
type RedirectOptions = Parameters<typeof interceptors.redirect>[0]
type DnsOptions = NonNullable<Parameters<typeof interceptors.dns>[0]>
export const retry: RetryOptions = { maxRetries: 1 }
export const redirect: RedirectOptions = { maxRedirections: 2 }
export const dns: DnsOptions = {
  affinity: 6,
  lookup: (_origin, _options, callback) => callback(null, [{ address: '::1', ttl: 1, family: 6 }]),
}
export const list: Dispatcher.DispatcherComposeInterceptor[] = [
  interceptors.retry(retry),
  interceptors.redirect(redirect),
  interceptors.dns(dns),
]
export const plain: Dispatcher.DispatchInterceptor = (dispatch) => dispatch
