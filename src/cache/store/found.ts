/** What a store has found: its body is blocks in memory, or a stream that is checked while it is read. */
import { Buffer } from 'node:buffer'
import type { BodyReader } from '../../relay/body-log.ts'
import type { ByteRange } from '../rules/preconditions.ts'
import { partOf, WHOLE } from './body-part.ts'
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
  return blocks.reduce((size, { length }) => size + length, 0)
}

/** Handlers get copies: a caller's change must not reach the next caller. */
export function readerOf(body: FoundBody, range: ByteRange = WHOLE): BodyReader {
  return body instanceof StoredStream ? body.reader(range) : blockReader(body, range)
}

function blockReader(blocks: readonly Buffer[], range: ByteRange): BodyReader {
  let index = 0
  let position = 0
  const read = (): Buffer | null => {
    while (index < blocks.length) {
      const block = blocks[index++]!
      position += block.length
      const part = partOf(block, position - block.length, range)
      if (part !== null) return part
    }
    return null
  }
  return { read, close() {} }
}

/** A body that is not going to be read must not keep a file or a socket open. */
export function discardBody(body: FoundBody | undefined): void {
  if (body instanceof StoredStream) body.discard()
}
