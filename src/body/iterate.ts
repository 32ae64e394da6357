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
  stream(): AsyncIterator<Buffer>
}

type Result = IteratorResult<Buffer, undefined>

/** `new`: `next()` was not called yet, so leaving does not destroy the body. */
type Stage = 'new' | 'taking' | 'over'

const DONE: Result = Object.freeze({ value: undefined, done: true })

/** The error with which the runtime's iterators destroy a stream that they leave early. */
function leftError(): Error {
  return Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' })
}

export class BodyIterator implements AsyncIterableIterator<Buffer, undefined> {
  readonly #body: IteratedBody
  #stage: Stage = 'new'
  /** The runtime's iterator, once the stream has to be read; it answers everything from then on. */
  #stream: AsyncIterator<Buffer> | null = null
  /** The last answer that is still pending. */
  #waiting: Promise<Result> | null = null

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
    if (this.#waiting !== null) return this.#queue(this.#waiting)
    try {
      const result = this.#step()
      return result instanceof Promise ? result : Promise.resolve(result)
    } catch (reason) {
      return Promise.reject(reason)
    }
  }

  /** `next()` was called again before the last answer. As with a generator, answers come in order. */
  #queue(waiting: Promise<Result>): Promise<Result> {
    const step = (): Result | Promise<Result> => {
      if (this.#waiting === queued) this.#waiting = null
      return this.#step()
    }
    const queued = waiting.then(step, step)
    this.#waiting = queued
    return queued
  }

  #step(): Result | Promise<Result> {
    if (this.#stream !== null) return this.#stream.next()
    if (this.#stage === 'over') return DONE
    this.#stage = 'taking'
    let taken: Taken
    try {
      taken = this.#body.take()
    } catch (reason) {
      this.#stage = 'over'
      throw reason
    }
    switch (taken) {
      case 'later':
        return this.#wait()
      case 'streamed':
        this.#stream = this.#body.stream()
        return this.#stream.next()
      case 'end':
        this.#stage = 'over'
        return DONE
      default:
        return { value: taken, done: false }
    }
  }

  #wait(): Promise<Result> {
    const waiting = this.#body.nextArrival().then(() => {
      if (this.#waiting === waiting) this.#waiting = null
      return this.#step()
    })
    // Calls that were queued behind this one already wait for it.
    this.#waiting ??= waiting
    return waiting
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
    if (stage === 'taking') this.#body.leave(leftError())
  }
}
