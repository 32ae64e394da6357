/**
 * The value a body was made from. It allows the body to be sent again, after a redirect or on a new
 * connection.
 */
import { asBuffer } from '../../base/bytes/source-bytes.ts'

/** Read chunk by chunk, as often as needed. */
export interface PulledOrigin {
  /** In bytes; null if unknown. */
  readonly length: number | null
  chunks(): AsyncIterable<Uint8Array>
}

export type BodyOrigin = string | Uint8Array | PulledOrigin

/** Whether its bytes are known without reading. */
export function isWhole(origin: BodyOrigin | null): origin is string | Uint8Array {
  return typeof origin === 'string' || origin instanceof Uint8Array
}

export function bytesOf(origin: string | Uint8Array): Buffer {
  return typeof origin === 'string' ? Buffer.from(origin) : asBuffer(origin)
}
