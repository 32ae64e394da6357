/** Delivers a stored response, as a dispatcher delivers a received one. */
import type { HeaderObject } from '../protocol/header-block.ts'
import { BodyDelivery, type BodyOutlet, contain } from '../relay/body-delivery.ts'
import type { BodyReader } from '../relay/body-log.ts'
import type { Caller, ResponseSource } from '../relay/caller.ts'

const RESOLVED = Promise.resolve()

export interface ServedHead {
  readonly statusCode: number
  readonly statusMessage: string
  readonly headers: HeaderObject
}

export class Serving implements ResponseSource, BodyOutlet {
  readonly upstream = null
  readonly #caller: Caller
  readonly #head: ServedHead
  readonly #body: BodyDelivery
  readonly #onDone: (() => void) | null
  #at: 'waiting' | 'head' | 'body' | 'done' = 'waiting'

  /** `onDone` is called when nothing more is read. */
  constructor(
    caller: Caller,
    head: ServedHead,
    reader: BodyReader | null,
    onDone: (() => void) | null = null,
  ) {
    this.#caller = caller
    this.#head = head
    this.#body = new BodyDelivery(caller, reader, this)
    this.#onDone = onDone
    caller.source = this
  }

  /** Not within `dispatch()`: a handler is never called before its caller has the return value. */
  startLater(): void {
    this.#caller.announce()
    void RESOLVED.then(() => this.start())
  }

  start(): void {
    if (this.#caller.settled || this.#at !== 'waiting') return
    this.#at = 'head'
    try {
      this.#caller.start(null)
      if (!this.#caller.settled) {
        const { statusCode, headers, statusMessage } = this.#head
        this.#caller.head(statusCode, headers, statusMessage, null)
      }
    } catch (error) {
      this.onBodyError(error as Error)
    }
    if (this.#at !== 'head') return
    this.#at = 'body'
    this.#body.run()
  }

  abort(): void {
    this.#finish()
  }

  pause(): void {}

  resume(): void {
    if (this.#at === 'body') this.#body.run()
  }

  onBodyEnd(): void {
    this.#finish()
    contain(() => this.#caller.end({}, null))
  }

  onBodyError(error: Error): void {
    this.#finish()
    contain(() => this.#caller.fail(error))
  }

  #finish(): void {
    if (this.#at === 'done') return
    this.#at = 'done'
    this.#body.close()
    this.#onDone?.()
  }
}
