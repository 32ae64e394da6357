/**
 * Iterating over a body. What has arrived as a whole is handed out as it is, because to run a stream for it costs
 * several times as much; any other body is iterated as the runtime does.
 */

/** A body, as its iterator needs it. */
export interface IteratedBody {
  /**
   * The next piece, if all has arrived and nobody streams it; undefined at the end; null if the stream has to be read.
   * Throws what the body failed with.
   */
  take(): Buffer | undefined | null
  /** Nobody wants the rest. */
  leave(reason: Error): void
  /** An iterator of the runtime. */
  stream(): AsyncIterator<Buffer>
}

type Result = IteratorResult<Buffer, undefined>

/** `new`: not asked for anything yet; a body that nobody asks is not used up. */
type Stage = 'new' | 'taking' | 'streaming' | 'over'

const DONE: Result = Object.freeze({ value: undefined, done: true })

/** What a stream of the runtime is destroyed with when an iterator leaves it. */
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
      this.#stage = 'streaming'
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

  /** Left because of an error, which comes back. */
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
