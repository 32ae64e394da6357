/** What a stream or an iterable that is a body may yield. */
import { isUint8Array } from 'node:util/types'

export function isPiece(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || isUint8Array(chunk)
}

/** The message of the streams of the runtime. */
export function badPiece(chunk: unknown): TypeError {
  const received = chunk === null ? 'null' : typeof chunk
  const error = new TypeError(
    `The "chunk" argument must be of type string or an instance of Buffer or Uint8Array. Received ${received}`,
  )
  return Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' })
}
