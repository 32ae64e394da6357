/**
 * Request bodies on the wire: the chunked coding (RFC 9112 §7.1) and the counting of a declared length
 * (RFC 9112 §6.2). It produces framing only; the data itself passes by untouched.
 */
import { invariant } from '../../base/invariant.ts'
import type { HeaderList } from '../header-list.ts'
import { encodeFields } from './request-encoder.ts'

/** Goes before the data of a chunk. An empty chunk would end the body. */
export function chunkPrefix(length: number): string {
  invariant(Number.isSafeInteger(length) && length > 0, 'chunk length is not a positive whole number')
  return `${length.toString(16)}\r\n`
}

/** Goes behind the data of a chunk. */
export const CHUNK_SUFFIX = '\r\n'

/** Ends a chunked body without trailers. */
export const LAST_CHUNK = '0\r\n\r\n'

/** Ends a chunked body. */
export function lastChunk(trailers: HeaderList | null): string {
  return trailers === null ? LAST_CHUNK : `0\r\n${encodeFields(trailers)}\r\n`
}

/** Compares the bytes of a body with the length its head declared. */
export class LengthCounter {
  readonly declared: number
  #written = 0

  constructor(declared: number) {
    invariant(Number.isSafeInteger(declared) && declared >= 0, 'body length is not a whole number')
    this.declared = declared
  }

  get written(): number {
    return this.#written
  }

  /** Whether `count` more bytes are more than was declared. */
  exceeds(count: number): boolean {
    return this.#written + count > this.declared
  }

  add(count: number): void {
    this.#written += count
  }

  /** At the end of the body: fewer bytes than declared. */
  get short(): boolean {
    return this.#written < this.declared
  }
}
