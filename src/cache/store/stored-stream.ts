/**
 * The body of a stored response that a store delivers as a stream. It is checked while it is read, when its
 * head has already been served: a part that is not bytes, or another length than the head announces, is
 * an error of the body.
 */
import { Buffer } from 'node:buffer'
import type { Writable } from 'node:stream'
import type { BodyReader, BodyWaiter } from '../../relay/body-log.ts'
import type { ByteRange } from '../rules/preconditions.ts'
import { partOf, WHOLE } from './body-part.ts'

type Part = Uint8Array | string
type Source = AsyncIterable<Part> | Iterable<Part>

export interface StreamWatcher {
  /** The response must not be served again. */
  onFlaw(error: Error): void
  /** The store could not deliver it. */
  onFailure(error: unknown): void
}

/** It is read once, or discarded. */
export class StoredStream implements BodyReader {
  readonly #source: Source
  /** Null if the head announces none. */
  readonly #announced: number | null
  readonly #watcher: StreamWatcher
  #parts: AsyncIterator<Part> | Iterator<Part> | null = null
  #range: ByteRange = WHOLE
  #position = 0
  #state:
    | 'idle'
    | 'reading'
    | 'closed'
    | { readonly next: IteratorResult<Part> }
    | { readonly error: unknown } = 'idle'

  constructor(source: Source, announced: number | null, watcher: StreamWatcher) {
    this.#source = source
    this.#announced = announced
    this.#watcher = watcher
  }

  reader(range: ByteRange): BodyReader {
    const source = this.#source
    this.#parts = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
    this.#range = range
    return this
  }

  discard(): void {
    discardStream(this.#source)
  }

  read(waiter: BodyWaiter): Buffer | null | undefined {
    for (;;) {
      const state = this.#state
      if (state === 'idle') void this.#fetch(waiter)
      if (typeof state === 'string') return undefined
      if ('error' in state) throw state.error
      const bytes = this.#checked(state.next)
      if (bytes === null) return null
      this.#state = 'idle'
      const at = this.#position - bytes.length
      const part = partOf(bytes, at, this.#range)
      if (part !== null) return part
      if (at >= this.#range.end) return null
    }
  }

  async #fetch(waiter: BodyWaiter): Promise<void> {
    this.#state = 'reading'
    let state: { next: IteratorResult<Part> } | { error: unknown }
    try {
      state = { next: await this.#parts!.next() }
    } catch (error) {
      this.#watcher.onFailure(error)
      state = { error }
    }
    if (this.#state !== 'reading') return
    this.#state = state
    waiter.onBodyProgress()
  }

  /** The bytes of a part; null at the end. */
  #checked({ done, value }: IteratorResult<unknown>): Buffer | null {
    // Of another object with a length, `Buffer.from` would copy as much as it claims.
    if (!done && typeof value !== 'string' && !(value instanceof Uint8Array))
      return this.#refuse('the stored body has a part that is neither bytes nor text')
    const bytes = done ? null : Buffer.from(value as string)
    this.#position += bytes?.length ?? 0
    const announced = this.#announced ?? this.#position
    if (bytes === null ? this.#position !== announced : this.#position > announced)
      return this.#refuse('the stored response is not one: content-length')
    return bytes
  }

  #refuse(message: string): never {
    const error = new TypeError(message)
    this.#watcher.onFlaw(error)
    throw error
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    Promise.resolve()
      .then(() => this.#parts?.return?.())
      .catch(() => {})
  }
}

/** It belongs to the store, and may be anything. */
export function discardStream(body: unknown): void {
  const stream = body as { destroy?: unknown; on?: unknown } | null | undefined
  if (typeof stream?.destroy !== 'function' || typeof stream.on !== 'function') return
  try {
    stream.on('error', () => {})
    stream.destroy()
  } catch {
    // It is of no use any more.
  }
}

/** Writes the last blocks. The stream belongs to the store, and may be anything that has its methods. */
export function writeTo(stream: Writable, last: readonly Buffer[]): void {
  try {
    for (const block of last) stream.write(block)
    stream.end()
  } catch {
    discardStream(stream)
  }
}
