/**
 * What connect and upgrade share: the request ends with a socket that belongs to the caller, or it fails.
 */
import type { Duplex } from 'node:stream'
import { discardSocket } from '../base/node/discard-socket.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import { ApiHandler, type ApiOptions, checkSignal, type RequestContext } from './api-handler.ts'
import type { Reject, Resolve } from './settlement.ts'

/** The answer and its socket, in the order in which the caller sees them. */
export interface SocketHead<TOpaque> {
  readonly statusCode: number
  readonly headers: HeaderObject
  readonly socket: Duplex
  readonly opaque: TOpaque
  readonly context: RequestContext
}

export abstract class SocketHandler<TOpaque, TData> extends ApiHandler<TOpaque> {
  readonly #resolve: Resolve<TData>
  readonly #reject: Reject
  #handedOver = false

  constructor(opts: ApiOptions<TOpaque>, resolve: Resolve<TData>, reject: Reject) {
    super(opts, null)
    checkSignal(opts.signal)
    this.#resolve = resolve
    this.#reject = reject
  }

  /** The error for an answer without a socket. */
  protected abstract refusal(): Error

  protected override onFinalHead(): void {
    throw this.refusal()
  }

  /** The caller has the socket, and sees its end. */
  protected override onFinalEnd(): void {}

  /** What the caller gets; null if the server has not agreed. */
  protected abstract answer(controller: DispatchController, head: SocketHead<TOpaque>): TData | null

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    const { opaque } = this
    const context = this.context as RequestContext
    const head = { statusCode, headers: this.present(controller, headers), socket, opaque, context }
    const data = this.answer(controller, head)
    if (data === null) this.fail(this.refusal())
    if (data === null || this.failed || this.#handedOver) {
      // The caller has its answer already, and never gets this socket.
      discardSocket(socket)
      return
    }
    this.#handedOver = true
    this.release()
    try {
      this.#resolve(data)
    } catch (error) {
      socket.destroy(error as Error)
    }
  }

  protected override hasResponse(): boolean {
    return this.#handedOver
  }

  protected override onFailure(error: unknown): void {
    if (!this.#handedOver) this.#reject(error)
  }
}
