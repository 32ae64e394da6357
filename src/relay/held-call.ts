/**
 * A call that no dispatcher has yet: it waits for a turn, a name, a store, an answer of the caller. Its body is not read
 * meanwhile, and is destroyed if the call is never sent.
 */
import { RequestAbortedError } from '../errors.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { watchBody } from '../request/waiting-body.ts'
import type { Downstream } from './downstream.ts'
import type { ResponseSource } from './response-source.ts'

export class HeldCall implements ResponseSource {
  readonly opts: DispatchOptions
  readonly #downstream: Downstream
  readonly #onGivenUp: (() => void) | null
  /** Ends listening to the body, whose error would end the process otherwise. */
  readonly #unwatch: (() => void) | null
  #state: 'held' | 'over' = 'held'

  /** @param onGivenUp Called if the caller gives it up, or its body fails. */
  constructor(opts: DispatchOptions, downstream: Downstream, onGivenUp: (() => void) | null = null) {
    this.opts = opts
    this.#downstream = downstream
    this.#onGivenUp = onGivenUp
    this.#unwatch = watchBody(opts.body, (error) => downstream.abort(error))
    downstream.source = this
  }

  /** A dispatcher gets it now. False if it is over. */
  release(): boolean {
    if (this.#state === 'over') return false
    this.#state = 'over'
    this.#unwatch?.()
    this.#downstream.source = null
    return true
  }

  /** It is not sent: its caller gets the error. */
  fail(error: Error): void {
    if (!this.release()) return
    destroyBodyOf(this.opts, error)
    this.#downstream.contain(() => this.#downstream.fail(error))
  }

  abort(reason: unknown): void {
    if (!this.release()) return
    destroyBodyOf(this.opts, reason || new RequestAbortedError())
    this.#onGivenUp?.()
  }

  pause(): void {}

  resume(): void {}
}
