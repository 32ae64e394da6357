/**
 * Connects bodies to the runtime's streams. Streams are created with options that have no prototype, so that
 * a polluted `Object.prototype` cannot change them.
 */

import type {
  ReadableStream,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  UnderlyingByteSource,
  UnderlyingSource,
} from 'node:stream/web'
import { isUint8Array } from 'node:util/types'
import { orAbortError } from '../../base/abort/abort-error.ts'
import { asBuffer } from '../../base/bytes/source-bytes.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import { loadWebStreams } from '../../base/node/lazy-modules.ts'
import { toBytes } from './feed.ts'

/** An object without a prototype. */
export function bare<T extends object>(members: T): T {
  return Object.assign(Object.create(null), members) as T
}

/** A stream that asks for each chunk and buffers none. */
export function makeStream<Chunk>(source: UnderlyingSource | UnderlyingByteSource): ReadableStream<Chunk> {
  const { ReadableStream } = loadWebStreams()
  return new ReadableStream(bare(source) as UnderlyingSource, bare({ highWaterMark: 0 }))
}

/**
 * Reads a caller's stream to the end. It uses a pipe because `read()` resolves its promise with an object: a
 * `then` on a polluted `Object.prototype` could replace the result.
 */
export function collectStream(stream: ReadableStream, take: (chunk: Buffer) => void): Promise<void> {
  const { WritableStream } = loadWebStreams()
  return new Promise((resolve, reject) => {
    const sink = new WritableStream(
      bare({
        write(chunk: unknown) {
          if (isUint8Array(chunk)) {
            take(asBuffer(chunk))
            return
          }
          const error = new TypeError('Received non-Uint8Array chunk')
          // The pipe cancels the stream and waits for that. A source may never answer, and a clone waits for
          // the other one.
          reject(error)
          throw error
        },
      }),
    )
    const options = { preventAbort: false, preventCancel: false, preventClose: false, signal: undefined }
    // A pipe leaves the stream unlocked, but a stream that has been read must stay locked.
    const piped = stream.pipeTo(sink, bare(options) as object).finally(() => void stream.getReader())
    piped.then(resolve, reject)
  })
}

/** A stream of the same chunks, or of what `convert` makes of them. Locks the given stream. */
export function proxyOf<T>(
  stream: ReadableStream<T>,
  convert: (chunk: T) => unknown = (chunk) => chunk,
): ReadableStream {
  const reader = stream.getReader()
  return makeStream({
    start(controller: ReadableStreamDefaultController) {
      // At once, even if nobody reads.
      reader.closed.catch((error) => controller.error(error))
    },
    async pull(controller: ReadableStreamDefaultController) {
      const { done, value } = await reader.read()
      try {
        if (done) controller.close()
        else controller.enqueue(convert(value))
      } catch (error) {
        // `convert` threw it, and nothing more is read.
        reader.cancel(error).catch(ignoreError)
        throw error
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** The chunks of a caller's stream, read one by one as they are sent. */
export class StreamChunks implements AsyncIterableIterator<Uint8Array | string> {
  readonly #reader: ReadableStreamDefaultReader<unknown>
  #cancelled: { readonly reason: unknown } | null = null

  constructor(stream: ReadableStream) {
    this.#reader = stream.getReader()
  }

  /** Cancels the rest of the stream with this reason. */
  cancel(reason: unknown): void {
    this.#cancelled = { reason }
    this.#reader.cancel(reason).catch(ignoreError)
  }

  async next(): Promise<IteratorResult<Uint8Array | string>> {
    const { done, value } = await this.#reader.read()
    // To a reader, a stream that is cancelled has ended. A server would take what it has for the whole body.
    if (this.#cancelled !== null) throw orAbortError(this.#cancelled.reason)
    if (done) return { done: true, value: undefined }
    if (toBytes(value) === null) {
      const error = new TypeError('Received non-Uint8Array chunk')
      this.cancel(error)
      throw error
    }
    return { done: false, value: value as Uint8Array | string }
  }

  /** The sender has stopped reading. Also called after the end. */
  async return(): Promise<IteratorResult<Uint8Array | string>> {
    this.#reader.cancel(this.#cancelled?.reason).catch(ignoreError)
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
