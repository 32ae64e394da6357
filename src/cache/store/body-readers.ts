/** Reads the body of a stored response, wherever it is: in memory, still arriving, or in a stream of a store. */
import { Buffer } from 'node:buffer'
import { copyBytes } from '../../base/own-bytes.ts'
import type { BodyReader, BodyWaiter } from '../../relay/body-log.ts'
import type { ByteRange } from '../rules/preconditions.ts'
import type { StoredBody } from './cache-store.ts'

/** Blocks in memory. Handlers get copies: a caller's change must not reach the next caller. */
class BlocksReader implements BodyReader {
  readonly #blocks: readonly Buffer[]
  readonly #range: ByteRange | null
  #index = 0
  #position = 0

  constructor(blocks: readonly Buffer[], range: ByteRange | null) {
    this.#blocks = blocks
    this.#range = range
  }

  read(): Buffer | null {
    while (this.#index < this.#blocks.length) {
      const block = this.#blocks[this.#index++]!
      const at = this.#position
      this.#position += block.length
      const start = this.#range === null ? 0 : Math.max(0, this.#range.start - at)
      const end = this.#range === null ? block.length : Math.min(block.length, this.#range.end - at)
      if (start < end) return copyBytes(block, start, end)
    }
    return null
  }

  close(): void {}
}

/** A stream of a store, read piece by piece. */
class StreamReader implements BodyReader {
  readonly #iterator: AsyncIterator<Uint8Array | string> | Iterator<Uint8Array | string>
  readonly #range: ByteRange | null
  #position = 0
  #state:
    | 'idle'
    | 'reading'
    | 'closed'
    | { readonly next: IteratorResult<Uint8Array | string> }
    | { readonly error: unknown } = 'idle'

  constructor(
    source: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
    range: ByteRange | null,
  ) {
    this.#range = range
    const asyncSource = source as Partial<AsyncIterable<Uint8Array | string>>
    this.#iterator =
      typeof asyncSource[Symbol.asyncIterator] === 'function'
        ? asyncSource[Symbol.asyncIterator]!()
        : (source as Iterable<Uint8Array | string>)[Symbol.iterator]()
  }

  read(waiter: BodyWaiter): Buffer | null | undefined {
    for (;;) {
      const state = this.#state
      if (state === 'reading' || state === 'closed') return undefined
      if (state === 'idle') {
        this.#fetch(waiter)
        return undefined
      }
      if ('error' in state) throw state.error
      if (state.next.done) return null
      this.#state = 'idle'
      const chunk = this.#cut(state.next.value)
      if (chunk !== null) return chunk
      if (this.#range !== null && this.#position >= this.#range.end) return null
    }
  }

  #fetch(waiter: BodyWaiter): void {
    this.#state = 'reading'
    Promise.resolve()
      .then(() => this.#iterator.next())
      .then(
        (next) => this.#accept(waiter, { next }),
        (error: unknown) => this.#accept(waiter, { error }),
      )
  }

  #accept(
    waiter: BodyWaiter,
    state: { readonly next: IteratorResult<Uint8Array | string> } | { readonly error: unknown },
  ): void {
    if (this.#state !== 'reading') return
    this.#state = state
    waiter.onBodyProgress()
  }

  #cut(value: Uint8Array | string): Buffer | null {
    const bytes = Buffer.from(value as string)
    const at = this.#position
    this.#position += bytes.length
    const start = this.#range === null ? 0 : Math.max(0, this.#range.start - at)
    const end = this.#range === null ? bytes.length : Math.min(bytes.length, this.#range.end - at)
    return start < end ? copyBytes(bytes, start, end) : null
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    Promise.resolve()
      .then(() => this.#iterator.return?.())
      .catch(() => {})
  }
}

const EMPTY: readonly Buffer[] = []

/** Whether a body has to be read as a stream. */
export function isStreamed(
  body: StoredBody | undefined,
): body is Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string> {
  return typeof body === 'object' && body !== null && !(body instanceof Uint8Array) && !Array.isArray(body)
}

/** A body as blocks in memory; null for one that has to be read as a stream. */
export function blocksOf(body: StoredBody | undefined): readonly Buffer[] | null {
  if (body === undefined || body === null) return EMPTY
  if (typeof body === 'string') return [Buffer.from(body)]
  if (body instanceof Uint8Array) return [Buffer.from(body.buffer, body.byteOffset, body.byteLength)]
  if (Array.isArray(body)) {
    return body.every((part) => part instanceof Buffer)
      ? (body as Buffer[])
      : body.map((part: Uint8Array | string) => Buffer.from(part as string))
  }
  return null
}

export function readerOf(body: StoredBody | undefined, range: ByteRange | null): BodyReader {
  const blocks = blocksOf(body)
  if (blocks !== null) return new BlocksReader(blocks, range)
  return new StreamReader(body as AsyncIterable<Uint8Array | string>, range)
}

export function sizeOf(blocks: readonly Buffer[]): number {
  let size = 0
  for (const block of blocks) size += block.length
  return size
}

/** A body that is not going to be read must not keep a file or a socket open. */
export function discardBody(body: StoredBody | undefined): void {
  // Not through its blocks: a part may claim any length.
  if (!isStreamed(body)) return
  const stream = body as { destroy?: unknown; on?: unknown }
  if (typeof stream.destroy !== 'function' || typeof stream.on !== 'function') return
  try {
    stream.on('error', () => {})
    stream.destroy()
  } catch {
    // It belongs to the store.
  }
}
