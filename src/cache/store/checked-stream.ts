/**
 * The body of a stored response that a store delivers as a stream. It is checked while it is read, when its head has
 * already been served: a part that is no bytes, or another length than the head announces, is an error of the body.
 */
import { Buffer } from 'node:buffer'

type Part = Uint8Array | string
type Source = AsyncIterable<Part> | Iterable<Part>
type Parts = AsyncIterator<Part> | Iterator<Part>

export interface StreamWatcher {
  /** The response must not be served again. */
  onFlaw(error: Error): void
  /** The store could not deliver it. */
  onFailure(error: unknown): void
}

export class CheckedStream implements AsyncIterable<Part> {
  readonly #source: Source
  /** Null if the head announces none. */
  readonly #announced: number | null
  readonly #watcher: StreamWatcher

  constructor(source: Source, announced: number | null, watcher: StreamWatcher) {
    this.#source = source
    this.#announced = announced
    this.#watcher = watcher
  }

  [Symbol.asyncIterator](): AsyncIterator<Part> {
    const parts = partsOf(this.#source)
    let size = 0
    return {
      next: async () => {
        let result: IteratorResult<Part>
        try {
          result = await parts.next()
        } catch (error) {
          this.#watcher.onFailure(error)
          throw error
        }
        if (!result.done) size += this.#lengthOf(result.value)
        const announced = this.#announced
        if (announced !== null && (result.done ? size !== announced : size > announced)) {
          this.#refuse('the stored response is not one: content-length')
        }
        return result
      },
      return: async () => {
        await parts.return?.()
        return { done: true, value: undefined }
      },
    }
  }

  #lengthOf(part: unknown): number {
    if (part instanceof Uint8Array) return part.length
    if (typeof part === 'string') return Buffer.byteLength(part)
    // Whatever else has a length claims it.
    return this.#refuse('the stored body has a part that is neither bytes nor text')
  }

  #refuse(message: string): never {
    const error = new TypeError(message)
    this.#watcher.onFlaw(error)
    throw error
  }

  // As a stream, which is destroyed if nobody reads it.

  on(event: string, listener: () => void): this {
    ;(this.#source as { on?: (event: string, listener: () => void) => void }).on?.(event, listener)
    return this
  }

  destroy(): void {
    ;(this.#source as { destroy?: () => void }).destroy?.()
  }
}

function partsOf(source: Source): Parts {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
}
