/**
 * The chunked coding of a request body (RFC 9112 §7.1). It produces framing only; the data itself passes by
 * untouched.
 */
import { invariant } from '../../base/invariant.ts'

/** Goes before the data of a chunk. An empty chunk would end the body. */
export function chunkPrefix(length: number): string {
  invariant(Number.isSafeInteger(length) && length > 0, 'chunk length is not a positive whole number')
  return `${length.toString(16)}\r\n`
}

/** Goes behind the data of a chunk. */
export const CHUNK_SUFFIX = '\r\n'

/** Ends a chunked body without trailers. */
export const LAST_CHUNK = '0\r\n\r\n'
