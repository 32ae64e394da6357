/**
 * Where the chunks of a body come from and where they go. The feed of a network response is in fetch-run.ts;
 * the feed of an iterable is here.
 */

import { isUint8Array } from 'node:util/types'
import { copyBytes } from '../../base/bytes/own-bytes.ts'
import { asBuffer } from '../../base/bytes/source-bytes.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import type { BodySource } from '../../body/incoming.ts'
import { cutShort, destroyStream, isStream } from '../../request/body-source.ts'

/** Supplies a body with chunks. `resume` is called repeatedly: whenever a reader waits. */
export interface BodyFeed extends BodySource {
  /** Delivers to another sink from now on. */
  deliverTo(sink: BodySink): void
  /** Whether an abort may still take away what has arrived. */
  readonly isAbortable: boolean
}

/** Receives the chunks of a body. */
export interface BodySink {
  receive(chunk: Buffer): void
  /** Receives a chunk in memory that is lent for the length of the call. */
  receiveLent(memory: Buffer, start: number, end: number): void
  complete(): void
  fail(error: unknown): void
  /** Whether a reader is waiting for the next chunk. */
  readonly awaited: boolean
}

/** Takes chunks from an iterable one at a time, each after the previous one has been read. */
export class IterableFeed implements BodyFeed {
  readonly isAbortable = false
  readonly #chunks: AsyncIterable<unknown>
  #iterator: AsyncIterator<unknown> | null = null
  #sink: BodySink
  #state: 'paused' | 'reading' | 'over' = 'paused'

  constructor(chunks: AsyncIterable<unknown>, sink: BodySink) {
    this.#chunks = chunks
    this.#sink = sink
  }

  deliverTo(sink: BodySink): void {
    this.#sink = sink
  }

  resume(): void {
    if (this.#state !== 'paused') return
    this.#state = 'reading'
    void this.#next()
  }

  /** A read that is already under way still delivers its chunk. The next one waits for a reader anyway. */
  pause(): void {}

  cancel(reason: unknown): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    try {
      // `return()` of its iterator would wait for the pending chunk.
      if (isStream(this.#chunks)) destroyStream(this.#chunks, null)
      const iterator = this.#iterator ?? this.#chunks[Symbol.asyncIterator]()
      // A stream receives the reason; a generator ignores it.
      Promise.resolve(iterator.return?.(reason)).catch(ignoreError)
    } catch {
      // The iterable belongs to the caller, and an error thrown here has no reader.
    }
  }

  spent(): void {}

  async #next(): Promise<void> {
    let result: IteratorResult<unknown>
    try {
      this.#iterator ??= this.#chunks[Symbol.asyncIterator]()
      result = await this.#iterator.next()
    } catch (error) {
      if (this.#state !== 'over') this.#end().fail(error)
      return
    }
    // A chunk may be a detached buffer, and an iterator may return something other than a result.
    try {
      this.#take(result)
    } catch (error) {
      if (this.#state === 'over') return
      this.cancel(error)
      this.#sink.fail(error)
    }
  }

  #take({ done, value }: IteratorResult<unknown>): void {
    if (this.#state === 'over') return
    if (done) {
      const error = cutShort(this.#chunks)
      if (error === null) this.#end().complete()
      else this.#end().fail(error)
      return
    }
    const bytes = toBytes(value)
    if (bytes === null) {
      this.cancel(undefined)
      this.#sink.fail(new TypeError('Received non-Uint8Array chunk'))
      return
    }
    // Copied: a generator may reuse the memory for its next chunk, and a byte stream detaches the chunks it
    // is given.
    this.#sink.receive(copyBytes(bytes, 0, bytes.byteLength))
    if (this.#state !== 'reading') return
    if (this.#sink.awaited) void this.#next()
    else this.#state = 'paused'
  }

  #end(): BodySink {
    this.#state = 'over'
    return this.#sink
  }
}

/** A chunk as bytes; null if it is neither bytes nor a string. */
export function toBytes(chunk: unknown): Buffer | null {
  if (isUint8Array(chunk)) return asBuffer(chunk)
  return typeof chunk === 'string' ? Buffer.from(chunk) : null
}
