/**
 * Where the chunks of a body come from and where they go. What comes from the network has its feed in
 * fetch-run.ts; here is that of an iterable.
 */
import { isUint8Array } from 'node:util/types'
import { copyBytes } from '../base/own-bytes.ts'

/** Whoever gives a body its chunks. */
export interface BodyFeed {
  /** Chunks are wanted, by somebody who waits for them. Called again and again. */
  resume(): void
  /** No more chunks for now. */
  pause(): void
  /** Nobody will want the rest. */
  cancel(reason: unknown): void
  /** All was taken: there is nothing left that a failure could take away. */
  spent(): void
  /** Another one takes the chunks from now on. */
  deliverTo(sink: BodySink): void
}

/** Whoever takes chunks. */
export interface BodySink {
  receive(chunk: Buffer): void
  complete(): void
  fail(error: unknown): void
  /** Whether somebody waits for what comes. */
  readonly awaited: boolean
}

/** Takes chunks from an iterable one by one, each when the one before has found its reader. */
export class IterableFeed implements BodyFeed {
  readonly #chunks: AsyncIterable<unknown>
  #iterator: AsyncIterator<unknown> | null = null
  #sink: BodySink | null = null
  #state: 'paused' | 'flowing' | 'reading' | 'over' = 'paused'

  constructor(chunks: AsyncIterable<unknown>) {
    this.#chunks = chunks
  }

  deliverTo(sink: BodySink): void {
    this.#sink = sink
  }

  resume(): void {
    if (this.#state !== 'paused') {
      if (this.#state === 'reading') this.#state = 'flowing'
      return
    }
    this.#state = 'flowing'
    this.#next()
  }

  /** What is being read at this moment still comes. */
  pause(): void {
    if (this.#state === 'flowing') this.#state = 'reading'
  }

  cancel(reason: unknown): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    try {
      const iterator = this.#iterator ?? this.#chunks[Symbol.asyncIterator]()
      // A stream is told why; a generator has no way to hear it.
      Promise.resolve(iterator.return?.(reason)).catch(ignore)
    } catch {
      // The iterable is the caller's, and what it throws here has no reader.
    }
  }

  spent(): void {}

  #next(): void {
    let step: Promise<IteratorResult<unknown>>
    try {
      this.#iterator ??= this.#chunks[Symbol.asyncIterator]()
      step = Promise.resolve(this.#iterator.next())
    } catch (error) {
      this.#fail(error)
      return
    }
    step.then(
      (result) => this.#tryToTake(result),
      (error) => this.#fail(error),
    )
  }

  /** A chunk may lie in memory that was transferred, and an iterator may bring something else than a result. */
  #tryToTake(result: IteratorResult<unknown>): void {
    try {
      this.#take(result)
    } catch (error) {
      if (this.#state === 'over') return
      this.cancel(error)
      this.#sink!.fail(error)
    }
  }

  #take({ done, value }: IteratorResult<unknown>): void {
    if (this.#state === 'over') return
    if (done) {
      this.#state = 'over'
      this.#sink!.complete()
      return
    }
    const bytes = toBytes(value)
    if (bytes === null) {
      this.cancel(undefined)
      this.#sink!.fail(new TypeError('Received non-Uint8Array chunk'))
      return
    }
    // A generator may fill the same memory again for its next chunk, and a byte stream detaches what it is given.
    this.#sink!.receive(copyBytes(bytes, 0, bytes.byteLength))
    if (this.#state === 'flowing' && this.#sink!.awaited) this.#next()
    else if (this.#state === 'flowing' || this.#state === 'reading') this.#state = 'paused'
  }

  #fail(error: unknown): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#sink!.fail(error)
  }
}

/** A chunk as bytes; null for what is none. */
export function toBytes(chunk: unknown): Buffer | null {
  if (isUint8Array(chunk)) return asBuffer(chunk)
  return typeof chunk === 'string' ? Buffer.from(chunk) : null
}

/** The same memory, with what only a Buffer can do. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function ignore(): void {}
