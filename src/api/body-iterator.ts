/**
 * Iterating over a body. What has arrived as a whole is handed out as it is, because to run a stream for it costs
 * several times as much; any other body is iterated as the runtime does.
 */
import { type Collector, type GatheredBytes, NOTHING_GATHERED } from './body-collect.ts'

/** A body, as its iterator needs it. */
export interface IteratedBody {
  /** All of it, if all has arrived and nobody else reads it; from then on `reader` is told of failures. Else null. */
  take(reader: Collector): readonly Buffer[] | null
  /** All that was taken has been handed out. */
  end(): void
  /** Nobody wants the rest. */
  leave(): void
  /** An iterator of the runtime. */
  stream(): AsyncIterator<Buffer>
}

type Result = IteratorResult<Buffer, undefined>

/** `new`: not asked for anything yet; a body that nobody asks is not used up. */
type Stage = 'new' | 'taken' | 'streaming' | 'over'

const DONE: Result = Object.freeze({ value: undefined, done: true })

export class BodyIterator implements AsyncIterableIterator<Buffer, undefined>, Collector {
  readonly gathered: GatheredBytes = NOTHING_GATHERED
  readonly #body: IteratedBody
  #stage: Stage = 'new'
  #chunks: readonly Buffer[] = []
  #handedOut = 0
  #stream: AsyncIterator<Buffer> | null = null
  #failure: { readonly reason: unknown } | null = null

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
    if (this.#stage === 'new') this.#begin()
    if (this.#stream !== null) return this.#stream.next()
    if (this.#stage === 'over') return Promise.resolve(DONE)
    if (this.#failure !== null) {
      this.#stage = 'over'
      return Promise.reject(this.#failure.reason)
    }
    if (this.#handedOut < this.#chunks.length) {
      return Promise.resolve({ value: this.#chunks[this.#handedOut++]!, done: false })
    }
    this.#stage = 'over'
    this.#body.end()
    return Promise.resolve(DONE)
  }

  /** Left before the end, as by `break`. */
  return(): Promise<Result> {
    if (this.#stream !== null) return this.#stream.return!()
    const stage = this.#stage
    this.#stage = 'over'
    if (stage === 'taken') this.#body.leave()
    return Promise.resolve(DONE)
  }

  /** Nothing is collected here. */
  finish(): void {}

  fail(reason: unknown): void {
    this.#failure = { reason }
  }

  #begin(): void {
    const chunks = this.#body.take(this)
    if (chunks === null) {
      this.#stage = 'streaming'
      this.#stream = this.#body.stream()
    } else {
      this.#stage = 'taken'
      this.#chunks = chunks
    }
  }
}
