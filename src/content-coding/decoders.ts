/**
 * The decoders of content codings (RFC 9110 §8.4.1), as streams of the runtime. Each decoder flushes after every
 * chunk.
 */
import { Transform } from 'node:stream'
import type * as zlib from 'node:zlib'
import { loadZlib } from '../base/node/lazy-modules.ts'
import { ZstdFrames } from './zstd-frames.ts'

/** A stream that decodes one coding. */
export type Decoder = Transform

/** What a truncated body is: complete, as in browsers, or an error. */
export type Truncation = 'accepted' | 'refused'

/** More than any real response uses. Each coding multiplies the size a small body can expand to. */
const MAX_CODINGS = 5

/** 2²³ bytes: RFC 9659 limits the window that an HTTP zstd decoder has to support. */
const ZSTD_WINDOW_LOG_MAX = 23

/** Missing from the types of Node 20. */
export interface ZstdModule {
  createZstdDecompress?(options: object): Transform
  zstdDecompressSync?(bytes: Uint8Array, options?: object): Buffer
}

/** Decodes `deflate`. It should be in zlib format, but some servers send it without the zlib header. */
class InflateEither extends Transform {
  readonly #truncation: Truncation
  #inner: Transform | null = null
  /** The coded data has ended. Bytes after it are ignored, as other decoders do. */
  #isOver = false
  /** Waits until the inner stream takes more, or has ended. */
  #waiting: (() => void) | null = null

  constructor(truncation: Truncation) {
    super()
    this.#truncation = truncation
  }

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    if (chunk.length === 0 || this.#isOver) {
      callback()
      return
    }
    this.#inner ??= this.#open(chunk[0]!)
    if (this.#inner.write(chunk)) callback()
    else this.#waiting = callback
  }

  override _flush(callback: (error?: Error | null) => void): void {
    if (this.#inner === null || this.#isOver) {
      callback()
      return
    }
    this.#waiting = callback
    this.#inner.end()
  }

  override _read(size: number): void {
    this.#inner?.resume()
    super._read(size)
  }

  #goOn(): void {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#inner?.destroy()
    callback(error)
  }

  #open(first: number): Transform {
    const { createInflate, createInflateRaw } = loadZlib()
    const options = zlibOptions(this.#truncation)
    const inner = isZlibFormat(first) ? createInflate(options) : createInflateRaw(options)
    inner.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) inner.pause()
    })
    inner.on('drain', () => this.#goOn())
    // It ends where the coded data does, which may be before all input was written.
    inner.on('end', () => {
      this.#isOver = true
      this.#goOn()
    })
    inner.on('error', (error) => this.destroy(error))
    return inner
  }
}

/** The low half of the first byte is the compression method, which is 8 in zlib format (RFC 1950 §2.2). */
export function isZlibFormat(first: number): boolean {
  return (first & 0x0f) === 8
}

/** Without `finishFlush`, the end of the input must be the end of the coded data. */
function zlibOptions(truncation: Truncation): zlib.ZlibOptions {
  const { Z_SYNC_FLUSH: flush } = loadZlib().constants
  return truncation === 'accepted' ? { flush, finishFlush: flush } : { flush }
}

function brotliOptions(truncation: Truncation): zlib.BrotliOptions {
  const { BROTLI_OPERATION_FLUSH: flush } = loadZlib().constants
  return truncation === 'accepted' ? { flush, finishFlush: flush } : { flush }
}

/** The end of the input is checked elsewhere: runtimes differ in what they make of it. */
function zstdOptions(): object {
  const constants = loadZlib().constants as unknown as Record<string, number>
  return {
    flush: constants['ZSTD_e_continue'],
    finishFlush: constants['ZSTD_e_flush'],
    params: { [constants['ZSTD_d_windowLogMax']!]: ZSTD_WINDOW_LOG_MAX },
  }
}

function openZstd(): Decoder {
  return (loadZlib() as typeof zlib & ZstdModule).createZstdDecompress!(zstdOptions())
}

/** For the runtime's decoder of a coding. */
export function decoderOptions(coding: string, truncation: Truncation): object {
  switch (coding) {
    case 'br':
      return brotliOptions(truncation)
    case 'zstd':
      return zstdOptions()
    default:
      return zlibOptions(truncation)
  }
}

/** Whether bodies in this coding can be decoded. The name is in lower case. */
export function isDecodable(coding: string): boolean {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
    case 'deflate':
    case 'br':
      return true
    case 'zstd':
      return (loadZlib() as typeof zlib & ZstdModule).createZstdDecompress !== undefined
    default:
      return false
  }
}

/** Of a coding that is decodable. */
function openDecoder(coding: string, truncation: Truncation): Decoder {
  switch (coding) {
    case 'deflate':
      return new InflateEither(truncation)
    case 'br':
      return loadZlib().createBrotliDecompress(brotliOptions(truncation))
    case 'zstd':
      return new ZstdFrames(openZstd)
    default:
      return loadZlib().createGunzip(zlibOptions(truncation))
  }
}

/** The names in a `content-encoding`, in lower case and in the order in which the codings were applied; `identity` is none. */
export function readCodings(contentEncoding: string): string[] | { readonly problem: string } {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length <= MAX_CODINGS) return codings
  return {
    problem: `too many content-encodings in response: ${codings.length}, maximum allowed is ${MAX_CODINGS}`,
  }
}

/** In the order in which they must run. Each coding must be decodable. */
export function openDecoders(codings: readonly string[], truncation: Truncation): Decoder[] {
  return codings.map((coding) => openDecoder(coding, truncation)).reverse()
}
