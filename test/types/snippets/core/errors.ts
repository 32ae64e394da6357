import { errors } from 'undici'

export function explain(error: unknown): string {
  if (error instanceof errors.ConnectTimeoutError) return error.code
  if (error instanceof errors.HeadersTimeoutError) return error.name
  if (error instanceof errors.BodyTimeoutError) return error.message
  if (error instanceof errors.ResponseError)
    return `${error.statusCode} ${String(error.body)} ${String(error.headers)}`
  if (error instanceof errors.SocketError)
    return `${error.socket?.remoteAddress} ${error.socket?.bytesWritten}`
  if (error instanceof errors.RequestAbortedError) return error.code
  if (error instanceof errors.InvalidArgumentError) return error.code
  if (error instanceof errors.UndiciError) return error.code
  return 'other'
}
export const made: Error[] = [
  new errors.UndiciError('a'),
  new errors.RequestAbortedError('b'),
  new errors.InvalidArgumentError('c'),
  new errors.ClientDestroyedError(),
  new errors.NotSupportedError('d'),
  new errors.ResponseContentLengthMismatchError('e'),
]
