// biome-ignore-all lint/suspicious/noExplicitAny: programs written for undici use it
import { errors, request } from 'undici'
export async function classify(url: string): Promise<string> {
  try {
    await request(url, { signal: AbortSignal.timeout(1) })
  } catch (e) {
    if (e instanceof errors.HeadersTimeoutError) {
      const c: 'UND_ERR_HEADERS_TIMEOUT' = e.code
      return c
    }
    if (e instanceof errors.SocketError) return `${e.socket?.remoteAddress}:${e.socket?.bytesRead}`
    if (e instanceof errors.ResponseError) return `${e.statusCode} ${e.body} ${JSON.stringify(e.headers)}`
    if (e instanceof errors.RequestRetryError) return `${e.data.count} ${e.headers['x']}`
    if (e instanceof errors.UndiciError)
      switch (e.code) {
        case 'UND_ERR_CONNECT_TIMEOUT':
          return 'ct'
        case 'UND_ERR_ABORTED':
          return e.name
        default:
          return e.message
      }
    if (e instanceof errors.HTTPParserError) return e.code
  }
  return ''
}
type Known =
  | errors.ConnectTimeoutError
  | errors.BodyTimeoutError
  | errors.RequestAbortedError
  | errors.InvalidArgumentError
export function code(e: Known): number {
  switch (e.code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 1
    case 'UND_ERR_BODY_TIMEOUT':
      return 2
    case 'UND_ERR_ABORTED':
      return e.name === 'AbortError' ? 3 : 4
    case 'UND_ERR_INVALID_ARG':
      return 5
    default: {
      const n: never = e
      return n
    }
  }
}
export class MyError extends errors.UndiciError {
  constructor(m: string) {
    super(m)
    this.code = 'MY'
    this.name = 'My'
  }
}
const names: ReadonlyArray<keyof typeof errors> = [
  'BodyTimeoutError',
  'ClientClosedError',
  'MaxOriginsReachedError',
  'SecureProxyConnectionError',
  'MessageSizeExceededError',
  'NotSupportedError',
  'Socks5ProxyError',
  'ProxyConnectionError',
  'MaxRedirectsError',
]
export const ctors: Array<new (...a: any[]) => Error> = names.map((n) => errors[n])
export const isTimeout = (e: unknown): e is errors.HeadersTimeoutError | errors.BodyTimeoutError =>
  e instanceof errors.HeadersTimeoutError || e instanceof errors.BodyTimeoutError
export const s = new errors.SocketError('x')
export const pe = new errors.ProxyConnectionError(new Error('x'), 'm', { a: 1 })
