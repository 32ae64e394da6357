/**
 * Converts the body a caller gave to a {@link Body} and its type. Values are recognised by their string tag
 * and by the members we use, not by class, because each class has several implementations.
 */

import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { isAnyArrayBuffer, isSharedArrayBuffer } from 'node:util/types'
import { sourceBytes } from '../../base/bytes/source-bytes.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import { loadWebStreams } from '../../base/node/lazy-modules.ts'
import { newBoundary } from '../../request/form-part.ts'
import { isIterableObject, toText, wellFormed } from '../../web/idl.ts'
import { encodeMultipart } from '../form/multipart-encode.ts'
import { Body } from './body.ts'
import type { PulledOrigin } from './origin.ts'
import { proxyOf } from './streams.ts'

/** A body made from a caller's value. */
export interface ExtractedBody {
  readonly body: Body
  /** The content type implied by the value; null if there is none. */
  readonly type: string | null
}

interface BlobLike {
  readonly size: number
  readonly type: string
  stream(): AsyncIterable<Uint8Array>
}

/** `where` is for the error message about a symbol. */
export function extractBody(value: unknown, where: string): ExtractedBody {
  if (typeof value === 'string') {
    return { body: new Body(wellFormed(value)), type: 'text/plain;charset=UTF-8' }
  }
  if (typeof value === 'object' && value !== null) {
    const extracted = extractObject(value)
    if (extracted !== null) return extracted
  }
  return extractBody(toText(value, where, 'body'), where)
}

function extractObject(value: object): ExtractedBody | null {
  if (ArrayBuffer.isView(value) || isAnyArrayBuffer(value)) {
    // As in Web IDL, shared memory does not count as bytes: it becomes a string.
    if (isSharedArrayBuffer(ArrayBuffer.isView(value) ? value.buffer : value)) return null
    // Copied: the caller may keep writing to it.
    const bytes = new Uint8Array(sourceBytes(value as ArrayBuffer | ArrayBufferView))
    return { body: new Body(bytes), type: null }
  }
  const members = value as Record<PropertyKey, unknown>
  switch (members[Symbol.toStringTag]) {
    case 'URLSearchParams':
      return { body: new Body(String(value)), type: 'application/x-www-form-urlencoded;charset=UTF-8' }
    case 'FormData':
      if (typeof members['append'] === 'function' && isIterableObject(value)) {
        const encoded = encodeMultipart(value as Iterable<[string, unknown]>, newBoundary())
        return { body: new Body(encoded.bytes() ?? encoded), type: encoded.contentType }
      }
      break
    case 'Blob':
    case 'File':
      if (typeof members['stream'] === 'function') return extractBlob(value as BlobLike)
      break
    case 'ReadableStream':
      if (typeof members['getReader'] === 'function') return extractStream(value as ReadableStream)
      break
  }
  if (typeof members[Symbol.asyncIterator] !== 'function') return null
  if (value instanceof Readable && (Readable.isDisturbed(value) || value.destroyed)) throw unusable()
  // A failure of the stream reaches the reader of the body. It may also happen earlier, or while nothing
  // reads from the stream. Without this listener, the unhandled event would end the process.
  if (value instanceof Readable) value.on('error', ignoreError)
  return { body: Body.from(value as AsyncIterable<unknown>), type: null }
}

/**
 * A Blob's type always matches. That of another class could inject lines into the head of the request.
 */
const PRINTABLE = /^[\x20-\x7e]+$/

function extractBlob(blob: BlobLike): ExtractedBody {
  const { size, type } = blob
  const origin: PulledOrigin = { length: size, chunks: () => blob.stream() }
  const isType = typeof type === 'string' && PRINTABLE.test(type)
  return { body: new Body(origin), type: isType ? type : null }
}

function extractStream(stream: ReadableStream): ExtractedBody {
  if (stream.locked || Readable.isDisturbed(stream as unknown as Readable)) throw unusable()
  const native = stream instanceof loadWebStreams().ReadableStream
  return { body: Body.streamed(native ? stream : proxyOf(stream)), type: null }
}

function unusable(): TypeError {
  return new TypeError('Response body object should not be disturbed or locked')
}
