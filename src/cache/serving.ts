/** Delivers a stored response, as a dispatcher delivers a received one. */
import type { HeaderObject } from '../protocol/header-block.ts'
import type { BodyWaiter } from './body-log.ts'
import type { BodyReader } from './body-readers.ts'
import type { Caller, ResponseSource } from './caller.ts'

const RESOLVED = Promise.resolve()

export interface ServedHead {
  readonly statusCode: number
  readonly statusMessage: string
  readonly headers: HeaderObject
}

export class Serving implements ResponseSource, BodyWaiter {
  readonly upstream = null
  readonly #caller: Caller
  readonly #head: ServedHead
  readonly #reader: BodyReader | null
  readonly #onDone: (() => void) | null
  #at: 'head' | 'body' | 'done' = 'head'
  /** A callback of the handler runs: what it changes is seen when it returns. */
  #running = false

  /** `onDone` is called when nothing more is read. */
  constructor(
    caller: Caller,
    head: ServedHead,
    reader: BodyReader | null,
    onDone: (() => void) | null = null,
  ) {
    this.#caller = caller
    this.#head = head
    this.#reader = reader
    this.#onDone = onDone
    caller.source = this
  }

  /** Not within `dispatch()`: a handler is never called before its caller has the return value. */
  startLater(): void {
    this.#caller.announce()
    void RESOLVED.then(() => this.start())
  }

  start(): void {
    if (this.#caller.settled || this.#at !== 'head') return
    this.#at = 'body'
    this.#running = true
    try {
      this.#caller.start(null)
      if (!this.#caller.settled) {
        const { statusCode, headers, statusMessage } = this.#head
        this.#caller.head(statusCode, headers, statusMessage, null)
      }
    } catch (error) {
      this.#fail(error as Error)
    }
    this.#running = false
    this.#run()
  }

  abort(): void {
    this.#finish()
  }

  pause(): void {}

  resume(): void {
    this.#run()
  }

  onBodyProgress(): void {
    this.#run()
  }

  #run(): void {
    if (this.#running || this.#at !== 'body') return
    const caller = this.#caller
    this.#running = true
    try {
      while (!caller.settled && !caller.paused) {
        const chunk = this.#reader === null ? null : this.#reader.read(this)
        if (chunk === undefined) break
        if (chunk === null) {
          this.#end()
          break
        }
        caller.data(chunk)
      }
    } catch (error) {
      this.#fail(error as Error)
    }
    this.#running = false
  }

  #end(): void {
    this.#finish()
    contain(() => this.#caller.end({}, null))
  }

  #fail(error: Error): void {
    this.#finish()
    contain(() => this.#caller.fail(error))
  }

  #finish(): void {
    if (this.#at === 'done') return
    this.#at = 'done'
    this.#reader?.close()
    this.#onDone?.()
  }
}

/** There is no dispatcher whose `error` event could report what `onResponseError` throws. */
function contain(call: () => void): void {
  try {
    call()
  } catch {
    // The request is over.
  }
}
