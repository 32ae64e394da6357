/**
 * What is decided about a request body before the head is written, the same over both protocols: the length
 * to announce, the type that the body itself knows, and where its bytes come from.
 */
import { InvalidArgumentError } from '../errors.ts'
import { isFieldValue } from '../protocol/ascii.ts'
import { lengthMismatch, lengthToSend } from '../request/body-length.ts'
import { endStream, lostMemory, settleLength } from '../request/body-source.ts'
import { encodeForm } from '../request/form-body.ts'
import type { Request } from '../request/request.ts'
import { announcedTrailers } from '../request/request-trailers.ts'
import type { PumpedSource } from './body-pump.ts'
import { lengthDiffers } from './body-writer.ts'

export interface OutgoingBody {
  /** The length to announce; null when none is. */
  readonly length: number | null
  /** The type that the body knows of itself, when the caller named none. */
  readonly contentType: string | null
  /** Null when there is no body, an empty one, or plain bytes; never null with trailers. */
  readonly pumped: PumpedSource | null
  /** The server is asked whether it wants the body. */
  readonly expects: boolean
  /** Names of the trailers, where they are known and the caller's headers do not name them. */
  readonly trailer: string | null
}

const NO_BODY: OutgoingBody = { length: null, contentType: null, pumped: null, expects: false, trailer: null }

/** Returns the error instead when the request must not be sent. */
export function prepareBody(request: Request, strictContentLength: boolean): OutgoingBody | Error {
  const { method, source, trailers } = request
  if (method === 'GET' && source.kind === 'none' && request.contentLength === null && trailers === null) {
    return NO_BODY
  }
  if (source.kind === 'bytes' && !source.isIntact) return lostMemory()
  // Asks a stream to read.
  let known = source.kind === 'stream' ? request.inContext(settleLength, null, source) : settleLength(source)
  let contentType: string | null = null
  let pumped: PumpedSource | null = null
  if (source.kind === 'form') {
    const body = request.inContext(encodeForm, null, source.given)
    known = body.length
    contentType = body.contentType
    pumped = () => body.chunks()
  } else if (source.kind === 'blob') {
    contentType = source.given.type || null
    pumped = () => source.given.stream()
  } else if (source.kind === 'stream') {
    pumped = source.stream
  } else if (source.kind === 'iterable') {
    pumped = () => source.given
  }
  if (request.contentType !== null) contentType = null
  if (contentType !== null && !isFieldValue(contentType)) {
    return new InvalidArgumentError('invalid content-type header')
  }
  if (lengthMismatch(known, request.contentLength)) {
    const error = lengthDiffers(strictContentLength)
    if (error !== null) return error
  }
  const length = lengthToSend(method, known, request.contentLength)
  if (known === 0) {
    pumped = null
    if (source.kind === 'stream') endStream(source.stream)
  }
  // A body with trailers is sent piece by piece, even if it is one piece or none.
  if (trailers !== null) pumped ??= () => (source.kind === 'bytes' ? [source.given] : [])
  const trailer = trailers === null || request.namesTrailers ? null : announcedTrailers(trailers)
  const hasContent = pumped !== null || source.kind === 'bytes'
  const expects = request.expectContinue && hasContent && !request.takesOver
  return { length, contentType, pumped, expects, trailer }
}

/** A body that takes an unknown time to write, and cannot be sent again if an earlier response is lost. */
export function isUnbounded({ source, trailers }: Request): boolean {
  return trailers !== null || source.kind === 'stream' || source.kind === 'iterable' || source.kind === 'form'
}
