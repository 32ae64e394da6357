/** Reads the body of a response into the parser, chunk by chunk, with a limit on silence. */
import type { ReadableStreamDefaultReader } from 'node:stream/web'
import { asBuffer } from '../base/bytes/source-bytes.ts'
import { ignoreError } from '../base/error/ignore-error.ts'
import { Deadline } from '../base/loop/deadline.ts'
import { BodyTimeoutError } from '../errors.ts'
import type { Response } from '../fetch/response.ts'
import type { EventStreamParser } from '../protocol/event-stream/parser.ts'

export class OpenStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null
  readonly #parser: EventStreamParser
  readonly #idleTimeout: number
  readonly #idle = new Deadline({
    onDeadline: () => this.#giveUp(new BodyTimeoutError()),
    onBroken: (error) => this.#giveUp(error),
  })
  /** Why reading was given up; null if it was not. */
  #error: Error | null = null

  /** @param idleTimeout Milliseconds; 0 for no limit. */
  constructor(response: Response, parser: EventStreamParser, idleTimeout: number) {
    this.#reader = response.body?.getReader() ?? null
    this.#parser = parser
    this.#idleTimeout = idleTimeout
  }

  get lastEventId(): string {
    return this.#parser.lastEventId
  }

  /** Reads what comes next; false at the end. Rejects if the stream is lost. */
  async read(): Promise<boolean> {
    if (this.#reader === null) return false
    this.#idle.arm(this.#idleTimeout)
    const { done, value } = await this.#reader.read()
    this.#idle.disarm()
    if (this.#error !== null) throw this.#error
    if (done) return false
    this.#parser.push(asBuffer(value))
    return true
  }

  /** Nothing more is reported, and the connection or HTTP/2 stream is given up. */
  close(): void {
    this.#idle.dispose()
    this.#parser.stop()
    this.#reader?.cancel().catch(ignoreError)
  }

  #giveUp(error: Error): void {
    this.#error = error
    // Ends the pending read.
    this.#reader?.cancel().catch(ignoreError)
  }
}
