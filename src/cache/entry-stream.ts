/** A Writable that collects a body and stores it when it has finished. One that is too long is not stored. */
import { Buffer } from 'node:buffer'
import { Writable } from 'node:stream'
import { BodyLog } from './body-log.ts'

export class EntryStream extends Writable {
  readonly #limit: number
  readonly #store: (body: readonly Buffer[]) => unknown
  #log: BodyLog | null = new BodyLog()

  /** `store` may return a promise: the stream finishes with it. */
  constructor(limit: number, store: (body: readonly Buffer[]) => unknown) {
    super()
    this.#limit = limit
    this.#store = store
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: () => void): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    if (this.#log !== null && this.#log.size + bytes.length > this.#limit) this.#log = null
    this.#log?.append(bytes)
    done()
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#log === null) {
      done()
      return
    }
    Promise.resolve()
      .then(() => this.#store(this.#log!.blocks()))
      .then(
        () => done(),
        (error: Error) => done(error),
      )
  }
}
