/**
 * Everything about an HTTP/1.1 request that is decided before its first byte: the head, the framing of the
 * body, and whether the connection lives on afterwards.
 */
import { contentLengthTail, encodeRequestHead, NO_BODY_TAIL } from '../../protocol/http1/request-encoder.ts'
import { expectsPayload } from '../../request/body-length.ts'
import type { Request } from '../../request/request.ts'
import type { ConnectionSettings } from '../connection.ts'
import { type OutgoingBody, prepareBody } from '../outgoing-body.ts'
import { headTooLarge, illegalFields } from '../outgoing-head.ts'

export interface PreparedRequest {
  /** The head. Without its framing line, unless the body is joined to it. */
  readonly text: string
  /** Length of the head without its framing line. */
  readonly headLength: number
  readonly body: OutgoingBody
  /** The body, or that there is none, leaves with the head. */
  readonly isJoined: boolean
  /** No request follows on this connection. One with a streamed body may still turn out to be the last. */
  readonly last: boolean
}

const EXPECT = 'expect: 100-continue\r\n'

/**
 * `isLast`: the connection ends with it, whatever the request says. Returns the error instead when the
 * request must not be sent; nothing has happened then.
 */
export function prepareRequest(
  request: Request,
  settings: ConnectionSettings,
  isLast: boolean,
): PreparedRequest | Error {
  const fields = request.wireFields()
  if (fields === null) return illegalFields()
  const body = prepareBody(request, settings.strictContentLength)
  if (body instanceof Error) return body

  const { method, upgrade } = request
  const closes = isLast || closesConnection(request)
  const head = encodeRequestHead({
    method,
    target: request.path,
    host: request.host ?? settings.authority,
    connection: upgrade !== null ? 'upgrade' : closes ? 'close' : 'keep-alive',
    upgrade,
    fields,
    contentType: body.contentType,
    trailer: body.trailer,
  })
  const text = body.expects ? head + EXPECT : head
  const headLength = text.length
  if (headLength > settings.maxHeaderSize) return headTooLarge(headLength, settings.maxHeaderSize)
  // Of a body from a source it is not known yet whether there is anything in it.
  const isWhole = request.source.kind === 'bytes' || request.trailers !== null
  const last = closes || upgrade !== null || (isWhole && leavesDoubt(request))
  // A held body is a piece of its own.
  const isJoined = body.pumped === null && !body.expects
  return { text: isJoined ? text + tailOf(body) : text, headLength, body, isJoined, last }
}

function tailOf({ length }: OutgoingBody): string {
  return length === null ? NO_BODY_TAIL : contentLengthTail(length)
}

/** By itself the request says `connection: close`. */
function closesConnection(request: Request): boolean {
  return request.reset ?? (request.method === 'HEAD' || request.method === 'CONNECT')
}

/**
 * Of a request that has content, if only framing. Where servers do not expect it, some leave it unread and
 * would take it for the next request, so nothing follows, although the head does not say so.
 */
export function leavesDoubt({ method, reset }: Request): boolean {
  return reset !== false && !expectsPayload(method)
}
