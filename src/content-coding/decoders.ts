/**
 * The decoders of content codings (RFC 9110 §8.4.1), as streams of the runtime. Each decoder flushes after
 * every chunk.
 */
import type { Transform } from 'node:stream'
import type * as zlib from 'node:zlib'
import { loadZlib } from '../base/node/lazy-modules.ts'
import { type Callback, WrappedTransform } from './wrapped-transform.ts'
import { ZstdFrames } from './zstd-frames.ts'

/** A stream that decodes one coding. */
export type Decoder = Transform

/** What a truncated body is: complete, as in browsers, or an error. */
export type Truncation = 'accepted' | 'refused'

/** More than any real response uses. Each coding multiplies the size a small body can expand to. */
const MAX_CODINGS = 5

/** 2²³ bytes: RFC 9659 limits the window that an HTTP zstd decoder has to support. */
const ZSTD_WINDOW_LOG_MAX = 23

/** Decodes `deflate`. It should be in zlib format, but some servers send it without the zlib header. */
class InflateEither extends WrappedTransform {
  readonly #options: object
  /** The coded data has ended. Bytes after it are ignored, as by the other decoders. */
  #isOver = false

  constructor(options: object) {
    super()
    this.#options = options
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    if (chunk.length === 0 || this.#isOver) {
      callback()
      return
    }
    this.inner ??= this.#open(chunk[0]!)
    if (this.inner.write(chunk)) callback()
    else this.waiting = callback
  }

  override _flush(callback: Callback): void {
    if (this.inner === null || this.#isOver) {
      callback()
      return
    }
    this.waiting = callback
    this.inner.end()
  }

  #open(first: number): Transform {
    const { createInflate, createInflateRaw } = loadZlib()
    const inner = isZlibFormat(first) ? createInflate(this.#options) : createInflateRaw(this.#options)
    // It ends where the coded data does, which may be before all input was written.
    inner.on('end', () => {
      this.#isOver = true
    })
    return this.connect(inner)
  }
}

/** The low half of the first byte is the compression method, which is 8 in zlib format (RFC 1950 §2.2). */
function isZlibFormat(first: number): boolean {
  return (first & 0x0f) === 8
}

/** Missing from the types of Node 20. */
type Zlib = typeof zlib & {
  createZstdDecompress?(options: object): Transform
  zstdDecompressSync?(bytes: Uint8Array, options: object): Buffer
}

/** Decodes one coding, as a stream or in one call. */
interface ContentCoding {
  options(truncation: Truncation): object
  open(options: object, zlib: Zlib): Decoder
  decode(bytes: Uint8Array, options: object, zlib: Zlib): Buffer
}

/** Without `finishFlush`, the end of the input must be the end of the coded data. */
function flushing(flush: number, truncation: Truncation): object {
  return truncation === 'accepted' ? { flush, finishFlush: flush } : { flush }
}

const GZIP: ContentCoding = {
  options: (truncation) => flushing(loadZlib().constants.Z_SYNC_FLUSH, truncation),
  open: (options, { createGunzip }) => createGunzip(options),
  decode: (bytes, options, { gunzipSync }) => gunzipSync(bytes, options),
}

const CODINGS: Readonly<Record<string, ContentCoding>> = {
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: {
    options: GZIP.options,
    open: (options) => new InflateEither(options),
    decode: (bytes, options, { inflateSync, inflateRawSync }) =>
      isZlibFormat(bytes[0]!) ? inflateSync(bytes, options) : inflateRawSync(bytes, options),
  },
  br: {
    options: (truncation) => flushing(loadZlib().constants.BROTLI_OPERATION_FLUSH, truncation),
    open: (options, { createBrotliDecompress }) => createBrotliDecompress(options),
    decode: (bytes, options, { brotliDecompressSync }) => brotliDecompressSync(bytes, options),
  },
  zstd: {
    // ZstdFrames checks the end of the input, because runtimes treat it differently.
    options: () => {
      const constants = loadZlib().constants as unknown as Record<string, number>
      return {
        flush: constants['ZSTD_e_continue'],
        finishFlush: constants['ZSTD_e_flush'],
        params: { [constants['ZSTD_d_windowLogMax']!]: ZSTD_WINDOW_LOG_MAX },
      }
    },
    open: (options, { createZstdDecompress }) => new ZstdFrames(() => createZstdDecompress!(options)),
    decode: (bytes, options, { zstdDecompressSync }) => zstdDecompressSync!(bytes, options),
  },
}

/** Whether bodies in this coding can be decoded. The name is in lower case. */
export function isDecodable(coding: string): boolean {
  return Object.hasOwn(CODINGS, coding) && (coding !== 'zstd' || 'createZstdDecompress' in loadZlib())
}

/** Decodes all of a body at once. Throws what the runtime throws. */
export function decodeAll(coding: string, truncation: Truncation, bytes: Uint8Array, limits: object): Buffer {
  const { options, decode } = CODINGS[coding]!
  return decode(bytes, { ...options(truncation), ...limits }, loadZlib())
}

/**
 * The names in a `content-encoding`, in lower case and in the order in which the codings were applied,
 * without `identity`.
 */
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
  return codings
    .map((name) => CODINGS[name]!)
    .map(({ open, options }) => open(options(truncation), loadZlib()))
    .reverse()
}
