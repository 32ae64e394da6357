/** The request of a fetch, as a dispatcher gets it. */
import type { AbortSource } from '../../base/abort/signal.ts'
import { asBuffer } from '../../base/bytes/source-bytes.ts'
import type { BodyInput, DispatchOptions } from '../../request/dispatch-options.ts'
import type { Body } from '../body/body.ts'
import type { BodyOrigin } from '../body/origin.ts'
import { StreamChunks } from '../body/streams.ts'
import { wireHeaders } from '../headers/wire-headers.ts'
import type { RequestRecord } from '../init.ts'
import type { Trail } from './redirect.ts'

export function sendRequest(record: RequestRecord, trail: Trail | null): DispatchOptions {
  const { method, headersTimeout, bodyTimeout, requestBodyTimeout, url, body } = record
  const headers = wireHeaders(record, trail)
  // A client would add it, but interceptors and mocks look for it here, and an interceptor may replace the
  // body.
  const length = body === null ? null : lengthOf(body.origin)
  if (length !== null && !record.headers.has('content-length')) headers['content-length'] = String(length)
  const options: { -readonly [K in keyof DispatchOptions]: DispatchOptions[K] } & { signal?: AbortSource } = {
    origin: url.origin,
    path: url.path,
    method,
    headers,
    body: body === null ? null : contentOf(body),
    // fetch follows redirects itself: an interceptor must not.
    maxRedirections: 0,
  }
  // The other modes compare origins. A program on a server has none, so its cookie jar decides.
  if (record.credentials === 'omit') options.cookies = false
  if (headersTimeout !== null) options.headersTimeout = headersTimeout
  if (bodyTimeout !== null) options.bodyTimeout = bodyTimeout
  if (requestBodyTimeout !== null) options.requestBodyTimeout = requestBodyTimeout
  // Over HTTP/2 an upload may go on when the response is complete and the run over.
  if (body !== null && record.signal !== null) options.signal = record.signal
  return options
}

/** Null if it is not known. */
function lengthOf(origin: BodyOrigin | null): number | null {
  if (origin === null) return null
  return typeof origin === 'string' ? Buffer.byteLength(origin) : origin.length
}

/**
 * Known bytes are passed as they are: they need one write, and dispatchers that retry or mock can read them.
 * Anything else is pulled chunk by chunk.
 */
function contentOf(body: Body): BodyInput {
  const { origin } = body
  if (origin === null) return new StreamChunks(body.stream)
  if (typeof origin === 'string') return origin
  if (origin instanceof Uint8Array) return asBuffer(origin)
  return { [Symbol.asyncIterator]: () => origin.chunks()[Symbol.asyncIterator]() }
}
