/** What a store has found: its body is blocks in memory, or a stream that is checked while it is read. */
import { Buffer } from 'node:buffer'
import { copyBytes } from '../../base/bytes/own-bytes.ts'
import type { BodyReader } from '../../relay/body-log.ts'
import type { ByteRange } from '../rules/preconditions.ts'
import type { CacheValue, StoredBody } from './cache-store.ts'
import { StoredStream } from './stored-stream.ts'

export interface Found extends CacheValue {
  readonly body: FoundBody
}

export type FoundBody = readonly Buffer[] | StoredStream

/** Null for one that has to be read as a stream. */
export function blocksOf(body: StoredBody | null | undefined): readonly Buffer[] | null {
  if (body === undefined || body === null) return []
  if (typeof body === 'string') return [Buffer.from(body)]
  if (body instanceof Uint8Array) return [Buffer.from(body.buffer, body.byteOffset, body.byteLength)]
  if (!Array.isArray(body)) return null
  return body.every((part) => part instanceof Buffer) ? body : body.map((part: string) => Buffer.from(part))
}

export function sizeOf(blocks: readonly Buffer[]): number {
  let size = 0
  for (const block of blocks) size += block.length
  return size
}

/** Handlers get copies: a caller's change must not reach the next caller. */
export function readerOf(body: FoundBody, range: ByteRange | null): BodyReader {
  if (body instanceof StoredStream) return body.reader(range)
  const pieces = piecesOf(body, range)
  return { read: () => pieces.next().value ?? null, close() {} }
}

function* piecesOf(blocks: readonly Buffer[], range: ByteRange | null): Generator<Buffer, undefined> {
  let position = 0
  for (const block of blocks) {
    const start = range === null ? 0 : Math.max(0, range.start - position)
    const end = range === null ? block.length : Math.min(block.length, range.end - position)
    position += block.length
    if (start < end) yield copyBytes(block, start, end)
  }
}

/** A body that is not going to be read must not keep a file or a socket open. */
export function discardBody(body: FoundBody | undefined): void {
  if (body instanceof StoredStream) body.discard()
}
