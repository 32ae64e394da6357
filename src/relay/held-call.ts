/**
 * A call that no dispatcher has yet: it waits for a turn, a name, a store, an answer of the caller. Its body
 * is not read meanwhile, and is destroyed if the call is never sent.
 */

import { now } from '../base/loop/clock.ts'
import { RequestAbortedError, type RetrySafety } from '../errors.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { HeldRequests, Refusable } from '../request/dispatching.ts'
import { logicalOrigin } from '../request/logical-origin.ts'
import { describeUnsent } from '../request/unsent-error.ts'
import { watchBody } from '../request/waiting-body.ts'
import type { Downstream } from './downstream.ts'
import type { ResponseSource } from './response-source.ts'

export class HeldCall implements ResponseSource, Refusable {
  readonly opts: DispatchOptions
  readonly #since = now()
  readonly #downstream: Downstream
  readonly #held: HeldRequests | undefined
  readonly #onGivenUp: (() => void) | undefined
  /** Ends listening to the body, whose error would end the process otherwise. */
  readonly #unwatch: (() => void) | null
  #state: 'held' | 'over' = 'held'

  /**
   * @param held Gives it up when the dispatcher is destroyed.
   * @param onGivenUp Called if the caller gives it up, or its body fails.
   */
  constructor(opts: DispatchOptions, downstream: Downstream, held?: HeldRequests, onGivenUp?: () => void) {
    this.opts = opts
    this.#downstream = downstream
    this.#held = held
    held?.add(this)
    this.#onGivenUp = onGivenUp
    this.#unwatch = watchBody(opts.body, (error) => downstream.abort(error))
    downstream.source = this
  }

  /** A dispatcher gets it now. False if it is over. */
  release(): boolean {
    if (this.#state === 'over') return false
    this.#state = 'over'
    this.#held?.delete(this)
    this.#unwatch?.()
    this.#downstream.source = null
    return true
  }

  /** It is not sent: its caller gets the error. */
  fail(error: Error): void {
    if (this.release()) this.#end(error)
  }

  refuse(error: unknown): void {
    this.abort(error)
  }

  abort(reason: unknown): void {
    if (!this.release()) return
    this.#onGivenUp?.()
    this.#end((reason || this.describe(new RequestAbortedError(), 'no')) as Error)
  }

  #end(error: Error): void {
    destroyBodyOf(this.opts, error)
    this.#downstream.contain(() => this.#downstream.fail(error))
  }

  /** With the fields that errors of a request have. */
  describe(error: Error, retrySafety: RetrySafety = 'safe'): Error {
    const origin = String(logicalOrigin(this.opts) ?? '')
    return describeUnsent(error, this.opts, origin, 'queued', this.#since, retrySafety)
  }

  pause(): void {}

  resume(): void {}
}
