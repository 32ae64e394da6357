/**
 * The body of a mocked request, as matchers and reply functions see it. Streams, iterables and Blobs that
 * have to be looked at are collected first, and the bytes replace them.
 */
import { isUtf8 } from 'node:buffer'
import { isAnyArrayBuffer, isUint8Array } from 'node:util/types'
import { InvalidArgumentError } from '../errors.ts'
import { type BodySource, classifyBody, type IterableForm } from '../request/body-source.ts'
import { encodeForm } from '../request/form-body.ts'

/** Limit for collecting a body, in bytes. */
const MOST_COLLECTED = 16 * 1024 * 1024

/** A view of the same memory; null for anything but bytes. */
export function bytesOf(value: unknown): Buffer | null {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return isAnyArrayBuffer(value) ? Buffer.from(value as ArrayBuffer) : null
}

function kindOf(body: unknown): BodySource['kind'] | undefined {
  if (typeof body !== 'object' || body === null || isUint8Array(body)) return undefined
  return classifyBody(body)?.kind
}

/** A stream or an iterable. */
export function isPiecemeal(body: unknown): boolean {
  const kind = kindOf(body)
  return kind === 'stream' || kind === 'iterable'
}

/** Has to be read before it can be compared. */
export function isCollectable(body: unknown): boolean {
  return isPiecemeal(body) || kindOf(body) === 'blob'
}

export function isForm(body: unknown): body is IterableForm {
  return kindOf(body) === 'form'
}

export type Pieces = AsyncIterable<unknown> | Iterable<unknown>

/** The pieces of a body that is not in memory; null for any other. */
export function piecesOf(source: BodySource): Pieces | null {
  switch (source.kind) {
    case 'stream':
      return source.stream as AsyncIterable<unknown> & typeof source.stream
    case 'iterable':
      return source.given
    case 'blob':
      return source.given.stream()
    case 'form':
      return encodeForm(source.given).chunks()
    default:
      return null
  }
}

export async function* eachOf(pieces: Pieces): AsyncGenerator<unknown> {
  yield* pieces
}

/** `kept` gets the pieces as they are. */
export async function collectBody(body: unknown, kept: unknown[] = []): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const piece of piecesOf(classifyBody(body)!)!) {
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : bytesOf(piece)
    if (chunk === null) throw new InvalidArgumentError('a piece of the body is neither a string nor bytes')
    length += chunk.length
    if (length > MOST_COLLECTED) {
      throw new InvalidArgumentError(`a body of more than ${MOST_COLLECTED} bytes cannot be matched`)
    }
    const copy = Buffer.from(chunk)
    chunks.push(copy)
    kept.push(typeof piece === 'string' ? piece : copy)
  }
  return Buffer.concat(chunks, length)
}

/** The text of bytes; the bytes themselves if they are not UTF-8. */
export function textOrBytes(bytes: Buffer): string | Buffer {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes
}

/** The text of a body that is a string or bytes; null for any other. */
export function textOf(body: unknown): string | null {
  if (typeof body === 'string') return body
  return bytesOf(body)?.toString('utf8') ?? null
}
