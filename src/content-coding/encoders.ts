/** The encoders of content codings (RFC 9110 §8.4.1): as streams of the runtime, and in one call. */
import type { Transform } from 'node:stream'
import type * as zlib from 'node:zlib'
import { loadZlib } from '../base/node/lazy-modules.ts'

/** A coding that request bodies can be sent in. */
export type Encoding = 'gzip' | 'br' | 'zstd'

/** Missing from the types of Node 20. */
type Zlib = typeof zlib & {
  createZstdCompress?(options: object): Transform
  zstdCompressSync?(bytes: Uint8Array, options: object): Buffer
}

interface Encoder {
  /** The lowest and the highest level, and one that is fast enough for a body that is sent once. */
  readonly levels: readonly [lowest: number, highest: number, usual: number]
  options(level: number): object
  open(options: object, zlib: Zlib): Transform
  encode(bytes: Uint8Array, options: object, zlib: Zlib): Buffer
}

const parameter = (name: string, value: number): object => ({
  params: { [(loadZlib().constants as unknown as Record<string, number>)[name]!]: value },
})

const ENCODERS: Readonly<Record<Encoding, Encoder>> = {
  gzip: {
    levels: [1, 9, 6],
    options: (level) => ({ level }),
    open: (options, { createGzip }) => createGzip(options),
    encode: (bytes, options, { gzipSync }) => gzipSync(bytes, options),
  },
  br: {
    levels: [0, 11, 4],
    options: (level) => parameter('BROTLI_PARAM_QUALITY', level),
    open: (options, { createBrotliCompress }) => createBrotliCompress(options),
    encode: (bytes, options, { brotliCompressSync }) => brotliCompressSync(bytes, options),
  },
  zstd: {
    // Higher ones use a window that an HTTP decoder need not support (RFC 9659).
    levels: [1, 19, 3],
    options: (level) => parameter('ZSTD_c_compressionLevel', level),
    open: (options, { createZstdCompress }) => createZstdCompress!(options),
    encode: (bytes, options, { zstdCompressSync }) => zstdCompressSync!(bytes, options),
  },
}

/** Whether the runtime has the coding. */
export function isEncodable(coding: Encoding): boolean {
  return coding !== 'zstd' || 'createZstdCompress' in loadZlib()
}

/** The level to use for a coding; null for one that it does not have. */
export function levelOf(coding: Encoding, given: number | null): number | null {
  const [lowest, highest, usual] = ENCODERS[coding].levels
  const level = given ?? usual
  return level < lowest || level > highest ? null : level
}

export function openEncoder(coding: Encoding, level: number): Transform {
  const { open, options } = ENCODERS[coding]
  return open(options(level), loadZlib())
}

/** Encodes all of a body at once. */
export function encodeAll(coding: Encoding, level: number, bytes: Uint8Array): Buffer {
  const { encode, options } = ENCODERS[coding]
  return encode(bytes, options(level), loadZlib())
}
