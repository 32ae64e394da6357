/** Throwing a body away: how much of it, and from a stream that runs already. */
import type { Readable } from 'node:stream'
import { AbortError } from '../errors.ts'
import type { DumpOptions } from './body-mixin.ts'

/** Bytes that `dump()` reads to save the connection; beyond, a new connection is cheaper. */
const DEFAULT_DUMP_LIMIT = 131_072

export function dumpLimit(opts: DumpOptions | undefined): number {
  return Number.isFinite(opts?.limit) && opts?.limit ? opts.limit : DEFAULT_DUMP_LIMIT
}

/** Empties a stream, or destroys it once it has yielded more than the limit. */
export function discardStream(stream: Readable, limit: number): void {
  let room = limit
  stream.on('data', (chunk: Buffer | string) => {
    room -=
      typeof chunk === 'string' ? Buffer.byteLength(chunk, stream.readableEncoding ?? 'utf8') : chunk.length
    if (room < 0) stream.destroy(new AbortError())
  })
  stream.resume()
}
