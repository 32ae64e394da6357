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
  return new BlockReader(body, range ?? { start: 0, end: Number.POSITIVE_INFINITY })
}

class BlockReader implements BodyReader {
  readonly #blocks: readonly Buffer[]
  readonly #range: ByteRange
  #index = 0
  #position = 0

  constructor(blocks: readonly Buffer[], range: ByteRange) {
    this.#blocks = blocks
    this.#range = range
  }

  read(): Buffer | null {
    while (this.#index < this.#blocks.length) {
      const block = this.#blocks[this.#index++]!
      const start = Math.max(0, this.#range.start - this.#position)
      const end = Math.min(block.length, this.#range.end - this.#position)
      this.#position += block.length
      if (start < end) return copyBytes(block, start, end)
    }
    return null
  }

  close(): void {}
}

/** A body that is not going to be read must not keep a file or a socket open. */
export function discardBody(body: FoundBody | undefined): void {
  if (body instanceof StoredStream) body.discard()
}
