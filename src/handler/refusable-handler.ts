/**
 * The handler of a request that an asynchronous interceptor has taken. The interceptor may refuse it at any time, by a
 * rejection that nobody else would see: the request would never settle, and the process would end.
 */
import type { Duplex } from 'node:stream'
import { throwLater } from '../base/throw-later.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { ForwardingHandler } from './forwarding-handler.ts'

type AbortFunction = (reason?: unknown) => void

export class RefusableHandler extends ForwardingHandler {
  #controller: DispatchController | null = null
  #abortQueued: AbortFunction | null = null
  /** `refused`: what still comes for the request concerns nobody. */
  #state: 'open' | 'settled' | { readonly refused: unknown } = 'open'

  override get onRequestQueued(): (abort: AbortFunction) => void {
    return this.forwardQueued
  }

  protected override forwardQueued(abort: AbortFunction): void {
    this.#controller = null
    this.#abortQueued = abort
    super.forwardQueued(abort)
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    if (typeof this.#state === 'object') {
      controller.abort(this.#state.refused)
      return
    }
    this.#controller = controller
    super.onRequestStart(controller, context)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    if (typeof this.#state === 'object') return
    super.onResponseEnd(controller, trailers)
    this.#state = 'settled'
  }

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#state = 'settled'
    super.onRequestUpgrade(controller, statusCode, headers, socket)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    if (typeof this.#state === 'object') return
    this.#state = 'settled'
    super.onResponseError(controller, error)
  }

  /** The interceptor has failed. What has settled by then stays as it is. */
  refuse(opts: DispatchOptions, error: unknown): void {
    if (this.#state !== 'open') return
    try {
      // A request that is on its way tells the handler by itself.
      if (this.#controller !== null) this.#controller.abort(error)
      else this.#abortQueued?.(error)
      if (this.#isSettled()) return
      this.#state = { refused: error }
      destroyBodyOf(opts, error)
      super.onResponseError(this.#controller, error as Error)
    } catch (thrown) {
      // By the handler. There is no dispatcher that could report it.
      throwLater(thrown)
    }
  }

  #isSettled(): boolean {
    return this.#state === 'settled'
  }
}
