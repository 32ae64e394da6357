/**
 * The body of a request, as a dispatcher gets it. Known bytes are passed as they are: they need one write,
 * and dispatchers that retry or mock can read them. Anything else is pulled chunk by chunk.
 */
import type { BodyInput } from '../../request/dispatch-options.ts'
import type { Body } from './body.ts'
import type { BodyOrigin } from './origin.ts'
import { StreamChunks } from './streams.ts'

export interface SentBody {
  readonly content: BodyInput
  /** Null if it is not known. */
  readonly length: number | null
  /** The value it can be sent from again; null for a stream. */
  readonly origin: BodyOrigin | null
  /** The rest is not needed. */
  cancel(reason: unknown): void
}

export function sendBody(body: Body): SentBody {
  const { origin } = body
  if (origin === null) {
    const chunks = new StreamChunks(body.stream)
    return { content: chunks, length: null, origin: null, cancel: (reason) => chunks.cancel(reason) }
  }
  if (typeof origin === 'string') {
    return { content: origin, length: Buffer.byteLength(origin), origin, cancel: ignore }
  }
  if (origin instanceof Uint8Array) {
    const content = Buffer.from(origin.buffer, origin.byteOffset, origin.byteLength)
    return { content, length: content.length, origin, cancel: ignore }
  }
  const content = { [Symbol.asyncIterator]: () => origin.chunks()[Symbol.asyncIterator]() }
  return { content, length: origin.length, origin, cancel: ignore }
}

/** The sender ends the iteration itself. */
function ignore(): void {}
