/** The value that a body was made from, from which it can be made again, for a redirect or a new connection. */
import { asBuffer } from './body-feed.ts'

/** Read piece by piece, as often as needed. */
export interface PulledOrigin {
  /** In bytes; null when it is not known. */
  readonly length: number | null
  chunks(): AsyncIterable<Uint8Array>
}

export type BodyOrigin = string | Uint8Array | PulledOrigin

/** Whether all of it is known without reading. */
export function isWhole(origin: BodyOrigin | null): origin is string | Uint8Array {
  return typeof origin === 'string' || origin instanceof Uint8Array
}

export function bytesOf(origin: string | Uint8Array): Buffer {
  return typeof origin === 'string' ? Buffer.from(origin) : asBuffer(origin)
}
