/**
 * Iterating over a body. The chunks of a body that has arrived are handed out as they are, because running a
 * stream for them costs several times as much; any other body is iterated by the runtime.
 */

/** A body, as its iterator needs it. */
export interface IteratedBody {
  /**
   * The next chunk of a body that has arrived and is not streamed; undefined at the end; null if the stream
   * has to be read. Throws the reason of a failed body.
   */
  take(): Buffer | undefined | null
  /** The iteration stopped before the end. */
  leave(reason: Error): void
  /** An iterator of the runtime. */
  stream(): AsyncIterator<Buffer>
}

type Result = IteratorResult<Buffer, undefined>

/** `new`: has taken nothing yet, so that leaving it does not destroy the body. */
type Stage = 'new' | 'taking' | 'over'

const DONE: Result = Object.freeze({ value: undefined, done: true })

/** The error with which the runtime's iterators destroy a stream that they leave early. */
class LeftError extends Error {
  override name = 'AbortError'
  readonly code = 'ABORT_ERR'

  constructor() {
    super('The operation was aborted')
  }
}

export class BodyIterator implements AsyncIterableIterator<Buffer, undefined> {
  readonly #body: IteratedBody
  #stage: Stage = 'new'
  /** The runtime's iterator, once the stream has to be read; it answers everything from then on. */
  #stream: AsyncIterator<Buffer> | null = null

  constructor(body: IteratedBody) {
    this.#body = body
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  next(): Promise<Result> {
    if (this.#stream !== null) return this.#stream.next()
    if (this.#stage === 'over') return Promise.resolve(DONE)
    let chunk: Buffer | undefined | null
    try {
      chunk = this.#body.take()
    } catch (reason) {
      this.#stage = 'over'
      return Promise.reject(reason)
    }
    if (chunk === null) {
      this.#stream = this.#body.stream()
      return this.#stream.next()
    }
    if (chunk === undefined) {
      this.#stage = 'over'
      return Promise.resolve(DONE)
    }
    this.#stage = 'taking'
    return Promise.resolve({ value: chunk, done: false })
  }

  /** Left before the end, as by `break`. */
  return(): Promise<Result> {
    if (this.#stream !== null) return this.#stream.return!()
    this.#leave()
    return Promise.resolve(DONE)
  }

  /** Left because of an error, which is returned. */
  throw(error: unknown): Promise<Result> {
    if (this.#stream !== null) return this.#stream.throw!(error)
    this.#leave()
    return Promise.reject(error)
  }

  #leave(): void {
    const stage = this.#stage
    this.#stage = 'over'
    if (stage === 'taking') this.#body.leave(new LeftError())
  }
}
