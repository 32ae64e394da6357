/**
 * What connect and upgrade share: the request ends with a socket that belongs to the caller, or it fails.
 */
import type { Duplex } from 'node:stream'
import { discardSocket } from '../base/node/discard-socket.ts'
import { SocketError, type Timings } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import {
  ApiHandler,
  type ApiOptions,
  checkSignal,
  type RequestContext,
  type ResponseHead,
} from './api-handler.ts'
import type { Reject, Resolve } from './settlement.ts'

/** The response head, with its socket. */
export interface SocketData<TOpaque> extends Omit<ResponseHead<TOpaque>, 'statusCode'> {
  /** Belongs to the caller. */
  socket: Duplex
  /** When each step happened. Null from other dispatchers. */
  readonly timings: Timings | null
}

/**
 * What the caller gets; null if the server did not agree. The members of `head` are in the order in which
 * they are printed.
 */
type AnswerFrom<TOpaque, TData> = (
  timings: Timings | null | undefined,
  head: { statusCode: number } & Omit<SocketData<TOpaque>, 'timings'>,
) => TData | null

export class SocketHandler<TOpaque, TData> extends ApiHandler<TOpaque> {
  readonly #refusal: string
  readonly #resolve: Resolve<TData>
  readonly #reject: Reject
  readonly #answer: AnswerFrom<TOpaque, TData>

  /** @param refusal The message of the error for an answer without a socket. */
  constructor(
    opts: ApiOptions<TOpaque>,
    refusal: string,
    resolve: Resolve<TData>,
    reject: Reject,
    answer: AnswerFrom<TOpaque, TData>,
  ) {
    super(opts, null)
    checkSignal(opts.signal)
    this.#refusal = refusal
    this.#answer = answer
    this.#resolve = resolve
    this.#reject = reject
  }

  protected override onFinalHead(): void {
    throw new SocketError(this.#refusal, null)
  }

  /** The caller has the socket, and sees its end. */
  protected override onFinalEnd(): void {}

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    const { opaque } = this
    const context = this.context as RequestContext
    this.controller = controller
    const head = { statusCode, headers: this.present(headers), socket, opaque, context }
    const data = this.#answer(controller.timings, head)
    if (data === null) this.fail(new SocketError(this.#refusal, null))
    if (data === null || this.failed || this.hasResponse) {
      // The caller has been answered and does not get this socket.
      discardSocket(socket)
      return
    }
    this.hasResponse = true
    this.release()
    try {
      this.#resolve(data)
    } catch (error) {
      socket.destroy(error as Error)
    }
  }

  protected override onFailure(error: unknown): void {
    if (!this.hasResponse) this.#reject(error)
  }
}
