/**
 * Iterates over a body. It yields the chunks that have arrived and waits for the next ones itself, because a
 * running stream costs several times as much. If the stream runs anyway, the runtime's iterator takes over.
 */

/** `later`: nothing has arrived. `streamed`: the stream runs, and has to be read. */
export type Taken = Buffer | 'later' | 'end' | 'streamed'

/** A body, as its iterator needs it. */
export interface IteratedBody {
  /** The next chunk. Throws the reason of a failed body. */
  take(): Taken
  /** Resolves when `take` may have another answer than `later`. */
  nextArrival(): Promise<void>
  /** The iteration stopped before the end. */
  leave(reason: Error): void
  /** An iterator of the runtime. */
  stream(): AsyncIterableIterator<Buffer, undefined>
}

/**
 * `new`: `next()` was not called yet, so leaving does not destroy the body. `streaming`: the stream is read.
 */
type Stage = 'new' | 'taking' | 'streaming' | 'over'

/** The error with which the runtime's iterators destroy a stream that they leave early. */
function leftError(): Error {
  return Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' })
}

export class BodyIterator implements AsyncIterableIterator<Buffer, undefined> {
  readonly #body: IteratedBody
  readonly #chunks: AsyncGenerator<Buffer, undefined> = this.#take()
  #stage: Stage = 'new'

  constructor(body: IteratedBody) {
    this.#body = body
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    return this.#chunks.next()
  }

  /** Left before the end, as by `break`. */
  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#leave()
    return this.#chunks.return(undefined)
  }

  /** Left because of an error, with which the promise rejects. */
  throw(error: unknown): Promise<IteratorResult<Buffer, undefined>> {
    this.#leave()
    return this.#chunks.throw(error)
  }

  async *#take(): AsyncGenerator<Buffer, undefined> {
    while (this.#stage !== 'over') {
      this.#stage = 'taking'
      const taken = this.#body.take()
      if (taken === 'later') await this.#body.nextArrival()
      else if (taken === 'end') this.#stage = 'over'
      else if (taken !== 'streamed') yield taken
      else {
        this.#stage = 'streaming'
        return yield* this.#body.stream()
      }
    }
  }

  /** Also ends a `next()` that waits. */
  #leave(): void {
    if (this.#stage === 'streaming') return
    const stage = this.#stage
    this.#stage = 'over'
    if (stage === 'taking') this.#body.leave(leftError())
  }
}
