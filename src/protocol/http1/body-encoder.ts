/**
 * The chunked coding of a request body (RFC 9112 §7.1). It produces framing only; the data itself passes by
 * untouched.
 */
import { invariant } from '../../base/error/invariant.ts'
import { isFieldValue, isToken } from '../ascii.ts'

/** Goes before the data of a chunk. An empty chunk would end the body. */
export function chunkPrefix(length: number): string {
  invariant(Number.isSafeInteger(length) && length > 0, 'chunk length is not a positive whole number')
  return `${length.toString(16)}\r\n`
}

/** Follows the data of a chunk. */
export const CHUNK_SUFFIX = '\r\n'

/** Ends a chunked body without trailers. */
export const LAST_CHUNK = '0\r\n\r\n'

/** Ends a chunked body with trailers: name, value, name, value … */
export function lastChunkWith(trailers: readonly string[]): string {
  let text = '0\r\n'
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!
    const value = trailers[i + 1]!
    invariant(isToken(name) && isFieldValue(value), 'trailers were not checked')
    text += `${name}: ${value}\r\n`
  }
  return `${text}\r\n`
}
