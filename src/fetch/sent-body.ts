/**
 * The body of a request on its way to a dispatcher. Known bytes go as they are: one write, and dispatchers that
 * retry or mock can read them. The rest is pulled chunk by chunk.
 */
import type { BodyInput } from '../request/dispatch-options.ts'
import type { Body } from './body.ts'
import type { BodyOrigin } from './body-origin.ts'
import { StreamChunks } from './body-stream.ts'

export interface SentBody {
  readonly content: BodyInput
  /** What it can be sent from again; null for a stream. */
  readonly origin: BodyOrigin | null
  /** Nobody will want the rest. */
  cancel(reason: unknown): void
}

/** Adds the length to `headers` where the chunks would not tell it. */
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

/** Whoever sends it ends the iteration. */
function ignore(): void {}
