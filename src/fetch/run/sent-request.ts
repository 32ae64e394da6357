/** The request of a fetch, as a dispatcher gets it. */
import type { AbortSource } from '../../base/abort/signal.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { type SentBody, sendBody } from '../body/sent-body.ts'
import { wireHeaders } from '../headers/wire-headers.ts'
import type { RequestRecord } from '../init.ts'
import type { Trail } from './redirect.ts'

export interface SentRequest {
  readonly options: DispatchOptions
  /** Null if there is none. */
  readonly body: SentBody | null
}

export function sendRequest(record: RequestRecord, trail: Trail | null): SentRequest {
  const { method, headersTimeout, bodyTimeout, requestBodyTimeout, url } = record
  const headers = wireHeaders(record, trail)
  const body = record.body === null ? null : sendBody(record.body)
  // A client would add it, but interceptors and mocks look for it here, and an interceptor may replace the
  // body.
  if (body !== null && body.length !== null && !record.headers.has('content-length')) {
    headers['content-length'] = String(body.length)
  }
  const options: { -readonly [K in keyof DispatchOptions]: DispatchOptions[K] } & { signal?: AbortSource } = {
    origin: url.origin,
    path: url.path,
    method,
    headers,
    body: body === null ? null : body.content,
    // fetch follows redirects itself: an interceptor must not.
    maxRedirections: 0,
  }
  // The other modes have an origin to be compared with, which a program on a server has not: its jar decides.
  if (record.credentials === 'omit') options.cookies = false
  if (headersTimeout !== null) options.headersTimeout = headersTimeout
  if (bodyTimeout !== null) options.bodyTimeout = bodyTimeout
  if (requestBodyTimeout !== null) options.requestBodyTimeout = requestBodyTimeout
  // Over HTTP/2 an upload may go on when the response is complete and the run over.
  if (body !== null && record.signal !== null) options.signal = record.signal
  return { options, body }
}
