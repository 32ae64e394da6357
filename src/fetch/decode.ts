/**
 * The decoders of content codings (RFC 9110 §8.4.1), as streams of the runtime. Each decoder flushes after every
 * chunk and accepts a truncated body as complete, as browsers do.
 */
import { Transform } from 'node:stream'
import type * as zlib from 'node:zlib'
import { loadZlib } from '../base/lazy-modules.ts'

/** A stream that decodes one coding. */
export type Decoder = Transform

/** More than any real response uses. Each coding multiplies the size a small body can expand to. */
const MAX_CODINGS = 5

/** 2²³ bytes: RFC 9659 limits the window that an HTTP zstd decoder has to support. */
const ZSTD_WINDOW_LOG_MAX = 23

/** Missing from the types of Node 20. */
interface ZstdModule {
  createZstdDecompress?(options: object): Transform
}

/** Decodes `deflate`. It should be in zlib format, but some servers send it without the zlib header. */
class InflateEither extends Transform {
  #inner: Transform | null = null

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    if (chunk.length === 0) {
      callback()
      return
    }
    this.#inner ??= this.#open(chunk[0]!)
    // The inner stream may be full: the callback waits until it has accepted the chunk.
    if (this.#inner.write(chunk)) callback()
    else this.#inner.once('drain', callback)
  }

  override _flush(callback: (error?: Error | null) => void): void {
    if (this.#inner === null) callback()
    else this.#inner.once('end', callback).end()
  }

  override _read(size: number): void {
    this.#inner?.resume()
    super._read(size)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#inner?.destroy()
    callback(error)
  }

  /** The low half of the first byte is the compression method, which is 8 in zlib format (RFC 1950 §2.2). */
  #open(first: number): Transform {
    const { createInflate, createInflateRaw } = loadZlib()
    const inner = (first & 0x0f) === 8 ? createInflate(zlibOptions()) : createInflateRaw(zlibOptions())
    inner.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) inner.pause()
    })
    inner.on('error', (error) => this.destroy(error))
    return inner
  }
}

function zlibOptions(): zlib.ZlibOptions {
  const { Z_SYNC_FLUSH } = loadZlib().constants
  return { flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH }
}

function brotliOptions(): zlib.BrotliOptions {
  const { BROTLI_OPERATION_FLUSH } = loadZlib().constants
  return { flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH }
}

function openZstd(): Decoder | null {
  const module = loadZlib() as typeof zlib & ZstdModule
  if (module.createZstdDecompress === undefined) return null
  const constants = module.constants as unknown as Record<string, number>
  return module.createZstdDecompress({
    flush: constants['ZSTD_e_continue'],
    finishFlush: constants['ZSTD_e_flush'],
    params: { [constants['ZSTD_d_windowLogMax']!]: ZSTD_WINDOW_LOG_MAX },
  })
}

function openDecoder(coding: string): Decoder | null {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return loadZlib().createGunzip(zlibOptions())
    case 'deflate':
      return new InflateEither()
    case 'br':
      return loadZlib().createBrotliDecompress(brotliOptions())
    case 'zstd':
      return openZstd()
    default:
      return null
  }
}

/** In the order in which they must run. Null if a coding is unknown: in that case nothing is decoded. */
export function decodersFor(contentEncoding: string | null): Decoder[] | { readonly problem: string } | null {
  if (contentEncoding === null) return null
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '')
  if (codings.length > MAX_CODINGS) {
    const count = codings.length
    return {
      problem: `too many content-encodings in response: ${count}, maximum allowed is ${MAX_CODINGS}`,
    }
  }
  const decoders: Decoder[] = []
  for (const coding of codings.reverse()) {
    const decoder = openDecoder(coding)
    if (decoder === null) {
      for (const opened of decoders) opened.destroy()
      return null
    }
    decoders.push(decoder)
  }
  return decoders
}
