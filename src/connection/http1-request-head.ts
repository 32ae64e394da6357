/**
 * Everything about an HTTP/1.1 request that is decided before its first byte: the head, the framing of the
 * body, and whether the connection lives on afterwards (contract: dispatcher.md 5.2, 5.3; client.md 3.1).
 */
import { HeadersOverflowError, InvalidArgumentError, RequestContentLengthMismatchError } from '../errors.ts'
import { isFieldValue } from '../protocol/ascii.ts'
import { encodeRequestHead } from '../protocol/http1/request-encoder.ts'
import { expectsPayload, lengthMismatch, lengthToSend } from '../request/body-length.ts'
import { knownLength } from '../request/body-source.ts'
import { encodeForm } from '../request/form-body.ts'
import type { Request } from '../request/request.ts'
import type { PumpedSource } from './body-pump.ts'
import type { ConnectionSettings } from './connection.ts'

export interface PreparedRequest {
  /** Without the framing line. */
  readonly head: string
  /** Null: no length is announced. */
  readonly length: number | null
  /** Null when there is no body or it is plain bytes. */
  readonly pumped: PumpedSource | null
  /** No request follows on this connection. */
  readonly last: boolean
}

/** Returns the error instead when the request must not be sent. Nothing has happened then. */
export function prepareRequest(
  request: Request,
  settings: ConnectionSettings,
  served: number,
): PreparedRequest | Error {
  const fields = request.wireFields()
  if (fields === null) {
    return new InvalidArgumentError('invalid header left in request.headers by a diagnostics subscriber')
  }
  const { method, upgrade, source } = request
  let known = knownLength(source)
  let contentType: string | null = null
  let pumped: PumpedSource | null = null
  if (source.kind === 'form') {
    const body = encodeForm(source.form)
    known = body.length
    contentType = body.contentType
    pumped = { kind: 'encoded-form', body }
  } else if (source.kind === 'blob') {
    contentType = source.blob.type || null
    pumped = source
  } else if (source.kind === 'stream' || source.kind === 'iterable') {
    pumped = source
  }
  if (request.contentType !== null) contentType = null
  if (contentType !== null && !isFieldValue(contentType)) {
    return new InvalidArgumentError('invalid content-type header')
  }
  if (lengthMismatch(method, known, request.contentLength)) {
    const error = new RequestContentLengthMismatchError()
    if (settings.strictContentLength) return error
    process.emitWarning(error)
  }

  const closes = closesConnection(request, settings, served)
  const head = encodeRequestHead({
    method,
    target: request.path,
    host: request.host ?? settings.authority,
    connection: upgrade !== null ? 'upgrade' : closes ? 'close' : 'keep-alive',
    upgrade,
    fields,
    contentType,
  })
  if (head.length > settings.maxHeaderSize) {
    return new HeadersOverflowError(
      `Headers Overflow Error: the request head has ${head.length} bytes, maxHeaderSize is ${settings.maxHeaderSize}`,
    )
  }
  return {
    head,
    length: lengthToSend(method, known, request.contentLength),
    pumped,
    last: closes || upgrade !== null || leavesDoubt(request),
  }
}

/** The request says `connection: close`. */
function closesConnection(request: Request, settings: ConnectionSettings, served: number): boolean {
  const { maxRequestsPerClient } = settings
  if (settings.pipelining === 0) return true
  if (maxRequestsPerClient > 0 && served + 1 >= maxRequestsPerClient) return true
  return request.reset ?? (request.method === 'HEAD' || request.method === 'CONNECT')
}

/**
 * A body where servers do not expect one: some leave it unread and would take it for the next request, so
 * nothing follows, although the head does not say so.
 */
function leavesDoubt(request: Request): boolean {
  return request.source.kind !== 'none' && request.reset !== false && !expectsPayload(request.method)
}
