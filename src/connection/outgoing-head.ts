/** Why a request head cannot be sent, the same over both protocols. */
import { HeadersOverflowError, InvalidArgumentError } from '../errors.ts'

export function illegalFields(): Error {
  return new InvalidArgumentError('invalid header left in request.headers by a diagnostics subscriber')
}

export function headTooLarge(size: number, limit: number): Error {
  return new HeadersOverflowError(
    `Headers Overflow Error: the request head has ${size} bytes, maxHeaderSize is ${limit}`,
  )
}
