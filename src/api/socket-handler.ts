/**
 * What connect and upgrade share: the request ends with a socket that belongs to the caller, or it fails.
 */
import type { Duplex } from 'node:stream'
import { ApiHandler, type ApiOptions, checkSignal } from './api-handler.ts'
import { discardSocket } from './discard-socket.ts'
import type { Reject, Resolve } from './settlement.ts'

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

  protected handOver(data: TData, socket: Duplex): void {
    if (this.failed) {
      // The caller already has the failure and never gets this socket.
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
