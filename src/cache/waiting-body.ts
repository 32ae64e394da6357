/** The body of a request while a store is asked: it may fail, and is destroyed if the caller gives up. */
import { RequestAbortedError } from '../errors.ts'
import type { Caller, ResponseSource } from '../relay/caller.ts'
import { type BodyStream, destroyStream } from '../request/body-source.ts'
import { watchBody } from '../request/waiting-body.ts'

export class WaitingBody implements ResponseSource {
  readonly upstream = null
  readonly #body: BodyStream
  readonly #caller: Caller
  readonly #unwatch: (() => void) | null

  constructor(body: BodyStream, caller: Caller) {
    this.#body = body
    this.#caller = caller
    this.#unwatch = watchBody(body, (error) => caller.abort(error))
    caller.source = this
  }

  /** The store has answered. */
  end(): void {
    this.#unwatch?.()
    if (this.#caller.source === this) this.#caller.source = null
  }

  abort(reason: unknown): void {
    this.#unwatch?.()
    destroyStream(this.#body, (reason || new RequestAbortedError()) as Error)
  }

  pause(): void {}

  resume(): void {}
}
