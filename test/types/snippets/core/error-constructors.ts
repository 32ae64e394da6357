import { errors } from 'undici'

export const thrown: errors.UndiciError[] = [
  new errors.RequestRetryError('Request failed', 503),
  new errors.ResponseError('no', 500, { headers: { a: 'b' }, body: { message: 'no' } }),
  new errors.SecureProxyConnectionError(new Error('a'), 'b', {}),
  new errors.Socks5ProxyError('no', 'UND_ERR_SOCKS5'),
  new errors.ConnectTimeoutError('late'),
  new errors.SocketError('other side closed'),
  new errors.RequestAbortedError(),
]
