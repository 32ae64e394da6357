/** `connect()`: sends CONNECT and hands the socket over. */
import type { Duplex } from 'node:stream'
import { SocketError, type Timings } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { ApiOptions, RequestContext } from './api-handler.ts'
import { Answered, answerWith, type FailedData } from './settlement.ts'
import { SocketHandler, type SocketHead } from './socket-handler.ts'

/** Options of `connect()`. */
export interface ConnectOptions<TOpaque = null>
  extends Omit<DispatchOptions, 'method' | 'body' | 'upgrade'>,
    ApiOptions<TOpaque> {}

/** Called once, with an error or with the socket. */
export type ConnectCallback<TOpaque = null> = (
  error: Error | null,
  data: ConnectData<TOpaque> & FailedData<TOpaque>,
) => void

/** The answer to a CONNECT, with its socket. */
export interface ConnectData<TOpaque = null> {
  /** Any final status: a refusal resolves too. */
  statusCode: number
  /** A flat `string[]` with `responseHeaders: 'raw'`. */
  headers: HeaderObject
  /** Belongs to the caller. */
  socket: Duplex
  /** The value of `opts.opaque`; null for a falsy one. */
  opaque: TOpaque
  /** The context that the dispatcher passed to `onRequestStart`; null from a client. */
  context: RequestContext
  /** When each step happened. Null from other dispatchers. */
  readonly timings: Timings | null
}

const ConnectData = class extends Answered {}

class ConnectHandler<TOpaque> extends SocketHandler<TOpaque, ConnectData<TOpaque>> {
  protected override answer(controller: DispatchController, head: SocketHead<TOpaque>): ConnectData<TOpaque> {
    return Object.assign(new ConnectData(controller.timings), head)
  }

  protected override refusal(): Error {
    return new SocketError('bad connect', null)
  }
}

export function connectOn<TOpaque>(
  dispatcher: Dispatching,
  opts: ConnectOptions<TOpaque>,
  callback: ConnectCallback<TOpaque> | undefined,
): Promise<ConnectData<TOpaque>> | undefined {
  return answerWith<ConnectData<TOpaque>, TOpaque>('UNDICI_CONNECT', opts, callback, (resolve, reject) => {
    new ConnectHandler(opts, resolve, reject).start(dispatcher, { ...opts, method: 'CONNECT' }, opts.signal)
  })
}
