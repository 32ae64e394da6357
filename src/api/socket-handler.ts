/**
 * What connect and upgrade share: the request ends with a socket that belongs to the caller, or not at all.
 */
import type { Duplex } from 'node:stream'
import { ignoreError } from '../base/ignore-error.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import { ApiHandler } from './api-handler.ts'
import type { Reject, Resolve } from './settlement.ts'

export abstract class SocketHandler<TData> extends ApiHandler {
  readonly #resolve: Resolve<TData>
  readonly #reject: Reject
  #handedOver = false

  constructor(resolve: Resolve<TData>, reject: Reject) {
    super()
    this.#resolve = resolve
    this.#reject = reject
  }

  /** The error for an answer that brings no socket. */
  protected abstract refusal(): Error

  onResponseStart(controller: DispatchController, statusCode: number, _headers: HeaderObject): void {
    if (this.failed || statusCode < 200) return
    this.controller = controller
    this.fail(this.refusal())
  }

  protected handOver(data: TData, socket: Duplex): void {
    if (this.failed) {
      // The caller has been told that the request failed, so nobody would ever close this.
      socket.on('error', ignoreError)
      socket.destroy()
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
