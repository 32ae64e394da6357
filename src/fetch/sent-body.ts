/**
 * The body of a request, as a dispatcher gets it. Known bytes are passed as they are: they need one write, and
 * dispatchers that retry or mock can read them. Anything else is pulled chunk by chunk.
 */
import type { BodyInput } from '../request/dispatch-options.ts'
import type { Body } from './body.ts'
import type { BodyOrigin } from './body-origin.ts'
import { StreamChunks } from './body-stream.ts'

export interface SentBody {
  readonly content: BodyInput
  /** The value it can be sent from again; null for a stream. */
  readonly origin: BodyOrigin | null
  /** The rest is not needed. */
  cancel(reason: unknown): void
}

/** Adds the length to `headers` if it is known but the chunks do not reveal it. */
export function sendBody(body: Body, headers: Record<string, string | string[]>): SentBody {
  const { origin } = body
  if (origin === null) {
    const chunks = new StreamChunks(body.stream)
    return { content: chunks, origin: null, cancel: (reason) => chunks.cancel(reason) }
  }
  body.markUsed()
  if (typeof origin === 'string') return { content: origin, origin, cancel: ignore }
  if (origin instanceof Uint8Array) {
    const content = Buffer.from(origin.buffer, origin.byteOffset, origin.byteLength)
    return { content, origin, cancel: ignore }
  }
  const { length } = origin
  if (length !== null && headers['content-length'] === undefined) headers['content-length'] = String(length)
  const content = { [Symbol.asyncIterator]: () => origin.chunks()[Symbol.asyncIterator]() }
  return { content, origin, cancel: ignore }
}

/** The sender ends the iteration itself. */
function ignore(): void {}
