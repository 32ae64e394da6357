/** A Writable that collects a body and stores it when it has finished. One that is too long is not stored. */
import { Buffer } from 'node:buffer'
import { Writable } from 'node:stream'
import { BodyLog } from '../../relay/body-log.ts'

export class EntryStream extends Writable {
  readonly #limit: number
  readonly #store: (body: readonly Buffer[]) => void
  #log: BodyLog | null = new BodyLog()

  constructor(limit: number, store: (body: readonly Buffer[]) => void) {
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
    // Within `end()`: a response that was written can be read at once.
    try {
      this.#store(this.#log.blocks())
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}
