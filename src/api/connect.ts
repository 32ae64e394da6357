/** `connect()`: sends CONNECT and hands the socket over. */
import type { PublicFunction } from '../base/error/public-call.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { ApiOptions } from './api-handler.ts'
import { Answered, type ApiCallback, answerWith, type Reject, type Resolve } from './settlement.ts'
import { type SocketData, SocketHandler } from './socket-handler.ts'

/** Options of `connect()`. */
export interface ConnectOptions<TOpaque = null>
  extends Omit<DispatchOptions, 'method' | 'body' | 'upgrade'>,
    ApiOptions<TOpaque> {}

/** Called once, with an error or with the socket. */
export type ConnectCallback<TOpaque = null> = ApiCallback<ConnectData<TOpaque>, TOpaque>

/** The answer to a CONNECT, with its socket. */
export interface ConnectData<TOpaque = null> extends SocketData<TOpaque> {
  /** Any final status: a refusal resolves too. */
  statusCode: number
}

const ConnectData = class extends Answered {}

export function connectOn<TOpaque>(
  dispatcher: Dispatching,
  opts: ConnectOptions<TOpaque>,
  callback: ConnectCallback<TOpaque> | undefined,
  called: PublicFunction,
): Promise<ConnectData<TOpaque>> | undefined {
  const start = (resolve: Resolve<ConnectData<TOpaque>>, reject: Reject): void => {
    const handler = new SocketHandler(opts, 'bad connect', resolve, reject, (timings, head) =>
      Object.assign(new ConnectData(timings), head),
    )
    handler.start(dispatcher, { ...opts, method: 'CONNECT' })
  }
  return answerWith('UNDICI_CONNECT', dispatcher, opts, callback, start, called)
}
