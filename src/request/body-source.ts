/**
 * What a caller gave as `body`, classified once. All other code switches on `kind` and never looks at the
 * caller's value again.
 */
// The global of this name is a getter, which is too slow for every request.
import { Buffer } from 'node:buffer'
import type { Readable } from 'node:stream'
import { isUint8Array } from 'node:util/types'
import { ownBytes } from '../base/bytes/own-bytes.ts'
import { destroyFor, ignoreError } from '../base/error/ignore-error.ts'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { InvalidArgumentError, RequestAbortedError } from '../errors.ts'
import { emitFailure, OldStream } from './old-stream.ts'
import { ParamsBody } from './params-body.ts'

export type BodySource =
  | { readonly kind: 'none'; readonly given: null }
  | WholeSource
  | { readonly kind: 'stream'; readonly given: unknown; readonly stream: BodyStream }
  | { readonly kind: 'iterable'; readonly given: Iterable<unknown> | AsyncIterable<unknown> }
  | { readonly kind: 'blob'; readonly given: Blob | ParamsBody }
  | { readonly kind: 'form'; readonly given: IterableForm }

/** A stream of the runtime, or of a library whose streams behave alike. */
export type BodyStream = Pick<Readable, 'on' | 'pipe'> & Partial<Readable>

export interface IterableForm extends Iterable<[string, unknown]> {
  get(name: string): unknown
}

const NONE: BodySource = { kind: 'none', given: null }

/** A body that is all there. */
export interface WholeSource {
  readonly kind: 'bytes'
  readonly byteLength: number
  readonly bytes: Uint8Array
  /** The same as latin1, if that is at hand: it leaves as one string with the head of HTTP/1.1. */
  readonly latin1: string | null
  /** The memory is as it was at the call. Its owner may have transferred or resized it since. */
  readonly isIntact: boolean
  /** For handlers and subscribers: in memory that holds nothing else of ours. */
  readonly given: Uint8Array
}

class BytesSource implements WholeSource {
  readonly kind = 'bytes'
  readonly latin1 = null
  readonly byteLength: number
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.byteLength = bytes.byteLength
  }

  get isIntact(): boolean {
    return this.bytes.byteLength === this.byteLength
  }

  get given(): Uint8Array {
    return this.bytes
  }
}

/** The runtime writes a string of up to 16 KB, head included, without memory of its own. */
const MAX_LATIN1 = 8 * 1024

class TextSource implements WholeSource {
  readonly kind = 'bytes'
  readonly isIntact = true
  readonly byteLength: number
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    this.byteLength = Buffer.byteLength(text)
  }

  /** In UTF-8 only ASCII has as many bytes as characters. */
  get latin1(): string | null {
    return this.byteLength === this.#text.length && this.byteLength <= MAX_LATIN1 ? this.#text : null
  }

  get bytes(): Buffer {
    return Buffer.from(this.#text)
  }

  get given(): Buffer {
    return ownBytes(this.bytes, 0, this.byteLength)
  }
}

/**
 * A view whose length follows that of its memory becomes one of the length it has now. Of any other, the
 * length stays as it is or becomes 0, when the memory is taken away.
 */
export function withFixedLength(bytes: Uint8Array): Uint8Array {
  const buffer = bytes.buffer as { readonly resizable?: boolean; readonly growable?: boolean }
  return buffer.resizable === true || buffer.growable === true
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : bytes
}

/** Of a request whose bytes are not there any more when they are to be written. */
export function lostMemory(): Error {
  return new InvalidArgumentError('the memory of the body was transferred or resized before it was sent')
}

/** Returns null for a value that cannot be a body; throws for one whose memory is gone. */
export function classifyBody(body: unknown): BodySource | null {
  if (body === null || body === undefined) return NONE
  if (typeof body === 'string') return body === '' ? NONE : new TextSource(body)
  if (typeof body !== 'object') return null
  if (isStream(body)) {
    return { kind: 'stream', given: body, stream: readableState(body) ? body : new OldStream(body) }
  }
  if (isUint8Array(body)) return bytesSource(body)
  if (ArrayBuffer.isView(body)) {
    if (isGone(body.buffer)) throw lostMemory()
    return bytesSource(new Uint8Array(body.buffer, body.byteOffset, body.byteLength))
  }
  if (body instanceof ArrayBuffer) {
    if (isGone(body)) throw lostMemory()
    return bytesSource(new Uint8Array(body))
  }
  const tag = (body as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]
  if (tag === 'FormData' && isFormDataLike(body)) return { kind: 'form', given: body }
  if (tag === 'URLSearchParams') return { kind: 'blob', given: new ParamsBody(body) }
  if (body instanceof Blob) return { kind: 'blob', given: body }
  if (isIterable(body)) return { kind: 'iterable', given: body }
  return null
}

export function isStream(value: unknown): value is BodyStream {
  const candidate = value as Partial<BodyStream> | null
  return (
    typeof candidate === 'object' &&
    candidate !== null &&
    typeof candidate.pipe === 'function' &&
    typeof candidate.on === 'function'
  )
}

function bytesSource(bytes: Uint8Array): BodySource {
  if (bytes.byteLength > 0) return new BytesSource(withFixedLength(bytes))
  if (isGone(bytes.buffer)) throw lostMemory()
  return NONE
}

/** Its owner has transferred it. Node 20 has no `detached`, but nothing can be made over such memory. */
export function isGone(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength > 0) return false
  try {
    return new Uint8Array(buffer).length > 0
  } catch {
    return true
  }
}

const FORM_DATA_METHODS = ['append', 'delete', 'get', 'getAll', 'has', 'set'] as const

function isFormDataLike(value: object): value is IterableForm {
  const candidate = value as Record<PropertyKey, unknown>
  return FORM_DATA_METHODS.every((method) => typeof candidate[method] === 'function')
}

function isIterable(value: object): value is Iterable<unknown> | AsyncIterable<unknown> {
  const candidate = value as Record<PropertyKey, unknown>
  return (
    typeof candidate[Symbol.asyncIterator] === 'function' || typeof candidate[Symbol.iterator] === 'function'
  )
}

const NO_BODY = 'body must be a string, a Buffer, a Readable stream, an iterable, or an async iterable'

/** For a value that cannot be a body. Most are meant to be sent as JSON. */
export function notABody(value: unknown): Error {
  const isData = typeof value === 'object' && isPlain(value as object)
  return new InvalidArgumentError(
    isData ? `${NO_BODY}: send JSON.stringify(body), or use json of http` : NO_BODY,
  )
}

/** Also one of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Whether the same bytes can be sent a second time. */
export function isReplayable(source: BodySource): boolean {
  return source.kind !== 'stream' && source.kind !== 'iterable'
}

/**
 * The length in bytes as far as it can be known before reading; null otherwise. A stream that has already
 * ended holds all it will ever give; `read(0)` lets one that produces synchronously get there first.
 */
export function settleLength(source: BodySource): number | null {
  switch (source.kind) {
    case 'none':
      return 0
    case 'bytes':
      return source.byteLength
    case 'blob':
      return source.given.size
    case 'stream':
      return endedLength(source.stream)
    default:
      return null
  }
}

interface ReadableState {
  readonly objectMode?: boolean
  readonly decoder?: unknown
  readonly ended?: boolean
  readonly endEmitted?: boolean
  readonly length?: number
  readonly autoDestroy?: boolean
}

function endedLength(stream: BodyStream): number | null {
  if (hasEnded(stream)) return 0
  const state = readableState(stream)
  // Without a count the runtime did not make this state, and `read(0)` may take a piece out that is then
  // lost.
  if (typeof state?.length !== 'number' || stream.destroyed === true) return null
  if (typeof stream.read === 'function') stream.read(0)
  // With an encoding its length is in characters.
  const countsBytes = state.objectMode !== true && !state.decoder
  return countsBytes && state.ended === true ? state.length : null
}

/** It has emitted `end`. Older streams have no `readableEnded`. */
export function hasEnded(stream: BodyStream): boolean {
  return stream.readableEnded === true || readableState(stream)?.endEmitted === true
}

/**
 * Why a stream that has ended is not complete; null if nothing is known. Those of node:http2 that the peer has
 * reset end as if they were: what has come of an upload would pass for the whole of it.
 */
export function cutShort(stream: object): Error | null {
  try {
    const { aborted, rstCode, stream: own } = stream as ResettableStream
    if (aborted !== true && (own?.rstCode ?? rstCode ?? NO_ERROR) === NO_ERROR) return null
    return new RequestAbortedError('Request aborted: the stream of its body was reset')
  } catch (error) {
    // A getter of the caller's threw, at the end of a stream that runs by itself.
    return error as Error
  }
}

/** `stream`: of an incoming request of node:http2, which is a stream as well. */
interface ResettableStream {
  readonly aborted?: unknown
  readonly rstCode?: number
  readonly stream?: { readonly rstCode?: number } | null
}

/** RFC 9113 §7. */
const NO_ERROR = 0

/** Older streams do not destroy themselves when they end. */
export function destroysItself(stream: BodyStream): boolean {
  return readableState(stream)?.autoDestroy === true
}

function readableState(stream: BodyStream): ReadableState | undefined {
  return (stream as { _readableState?: ReadableState })._readableState
}

/** Lets a stream in which nothing is left come to its end, after which it is destroyed. */
export function endStream(stream: BodyStream): void {
  if (hasEnded(stream)) {
    destroyStream(stream, null)
    return
  }
  if (!destroysItself(stream)) stream.on('end', () => destroyStream(stream, null))
  stream.resume?.()
}

/**
 * Destroys the body of a request that is given up, if it is a stream. A getter of the options may throw, too.
 */
export function destroyBodyOf(opts: { readonly body?: unknown } | null | undefined, error: unknown): void {
  try {
    const body = opts?.body
    if (isStream(body)) destroyNow(body, error as Error)
    else cancelUnread(body, error)
  } catch {
    // The request ends for another reason, which its caller is about to report.
  }
}

/**
 * Cancels a web stream that nobody reads: its source may hold a file or a connection. Whoever reads one
 * cancels it.
 */
export function cancelUnread(body: unknown, reason: unknown): void {
  const stream = body as Partial<ReadableStream> | null | undefined
  try {
    if (typeof stream?.getReader !== 'function' || stream.locked === true) return
    ignoreRejection(stream.cancel?.(reason))
  } catch {
    // See destroyStream.
  }
}

/**
 * Destroys a stream, or lets it emit the error; what it throws, and errors that it emits later, are ignored.
 */
export function destroyStream(stream: BodyStream, error: Error | null): void {
  try {
    destroyFor(error, (reason) => destroyNow(stream, reason))
  } catch {
    // The request ends for another reason, which its caller is about to report.
  }
}

function destroyNow(stream: BodyStream, error: Error | null): void {
  if (typeof stream.destroy !== 'function') {
    if (error !== null) emitFailure(stream, error)
    return
  }
  if (stream.destroyed === true) return
  stream.on('error', ignoreError)
  const message = stream as IncomingMessageLike
  const socket = message.socket
  const isMessage = typeof message.httpVersion === 'string' && socket !== undefined
  // A server's incoming request takes its socket along when it is destroyed early, and with it the chance to
  // answer. It looks for the socket only during this call.
  if (isMessage) message.socket = null
  stream.destroy(error ?? undefined)
  if (isMessage) message.socket = socket
}

type IncomingMessageLike = BodyStream & { httpVersion?: unknown; socket?: unknown }
