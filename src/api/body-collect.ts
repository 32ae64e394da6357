/**
 * Putting a whole body together without running a stream: the chunks, then one conversion. Does not know
 * where chunks come from.
 */
import { Blob } from 'node:buffer'
import { utf8Of } from '../base/own-bytes.ts'
import type { HeaderObject } from '../protocol/header-block.ts'

/**
 * Largest announced length for which memory is taken in advance. A `content-length` is only a claim: a peer
 * that announces gigabytes and sends nothing must not make us reserve them.
 */
const PRESIZE_LIMIT = 1_048_576

/** What the head announced; null when unknown, and for HEAD, whose announcement is of another body. */
export function announcedLength(headers: HeaderObject, isHead: boolean): number | null {
  const value = headers['content-length']
  if (isHead || typeof value !== 'string') return null
  const length = Number(value)
  return Number.isSafeInteger(length) ? length : null
}

/** The bytes of what a stream takes for a chunk; null for anything else. */
export function bytesOf(chunk: unknown, encoding: BufferEncoding | undefined): Buffer | null {
  if (typeof chunk === 'string') return Buffer.from(chunk, encoding)
  if (!(chunk instanceof Uint8Array)) return null
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

/** What a conversion may want to know beside the bytes. */
export interface CollectContext {
  /** Set by `setEncoding`. */
  readonly encoding: BufferEncoding | null
  readonly contentType: string
}

export type Conversion<T> = (gathered: GatheredBytes, context: CollectContext) => T

/** Chunks in order; copied into one piece as they come when their total is announced. */
export class GatheredBytes {
  readonly #chunks: Buffer[]
  #target: Buffer | null = null
  #size: number

  /** The chunks are the collection's from now on. */
  constructor(chunks: Buffer[] = [], size = 0) {
    this.#chunks = chunks
    this.#size = size
  }

  /** Call before the first `add`, when more is to come than one chunk. */
  expect(length: number): void {
    if (length > 0 && length <= PRESIZE_LIMIT) this.#target = Buffer.allocUnsafeSlow(length)
  }

  add(chunk: Buffer): void {
    const target = this.#target
    if (target === null) {
      this.#chunks.push(chunk)
    } else if (this.#size + chunk.length <= target.length) {
      target.set(chunk, this.#size)
    } else {
      // More than announced: nobody below enforced the length, so go on without it.
      this.#chunks.push(target.subarray(0, this.#size), chunk)
      this.#target = null
    }
    this.#size += chunk.length
  }

  /** All bytes, to be read only: may share memory with others. */
  view(): Buffer {
    if (this.#target !== null) return this.#target.subarray(0, this.#size)
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#size)
  }

  /** All bytes, in memory that belongs to the caller and holds nothing else. */
  own(): Uint8Array<ArrayBuffer> {
    const target = this.#target
    if (target !== null && target.length === this.#size) {
      // allocUnsafeSlow takes an ArrayBuffer of exactly this size from no pool.
      return new Uint8Array(target.buffer as ArrayBuffer)
    }
    const bytes = new Uint8Array(this.#size)
    if (target !== null) {
      bytes.set(target.subarray(0, this.#size))
      return bytes
    }
    let offset = 0
    for (const chunk of this.#chunks) {
      bytes.set(chunk, offset)
      offset += chunk.length
    }
    return bytes
  }
}

function isUtf8(encoding: BufferEncoding | null): boolean {
  if (encoding === null || encoding === 'utf8') return true
  const name = encoding.toLowerCase()
  return name === 'utf8' || name === 'utf-8'
}

export function toText(gathered: GatheredBytes, context: CollectContext): string {
  const bytes = gathered.view()
  if (!isUtf8(context.encoding)) return bytes.toString(context.encoding ?? 'utf8')
  const marked = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return utf8Of(bytes, marked ? 3 : 0)
}

export function toJson(gathered: GatheredBytes, context: CollectContext): unknown {
  return JSON.parse(toText(gathered, context))
}

export function toBytes(gathered: GatheredBytes): Uint8Array<ArrayBuffer> {
  return gathered.own()
}

export function toArrayBuffer(gathered: GatheredBytes): ArrayBuffer {
  return gathered.own().buffer
}

export function toBlob(gathered: GatheredBytes, context: CollectContext): Blob {
  return new Blob([gathered.view()], { type: context.contentType })
}

/** One running collection: what it gathers and whom it answers. */
export interface Collector {
  readonly gathered: GatheredBytes
  /** Answers with the converted bytes; throws what the conversion throws. */
  finish(context: CollectContext): void
  fail(error: unknown): void
}

export class BodyCollector<T> implements Collector {
  readonly gathered: GatheredBytes = new GatheredBytes()
  readonly #convert: Conversion<T>
  readonly #resolve: (value: T) => void
  readonly #reject: (error: unknown) => void

  constructor(convert: Conversion<T>, resolve: (value: T) => void, reject: (error: unknown) => void) {
    this.#convert = convert
    this.#resolve = resolve
    this.#reject = reject
  }

  finish(context: CollectContext): void {
    this.#resolve(this.#convert(this.gathered, context))
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
