/** `upgrade()`: asks to switch protocols and hands the socket over. */
import type { Duplex } from 'node:stream'
import { SocketError, type Timings } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import type { DispatchOptions, HttpMethod } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { ApiOptions, RequestContext } from './api-handler.ts'
import { Answered, answerWith, type FailedData } from './settlement.ts'
import { SocketHandler, type SocketHead } from './socket-handler.ts'

/** The protocol asked for when none is named, in the letter case that users of the interface expect. */
const DEFAULT_PROTOCOL = 'Websocket'

/** HTTP/1.1 switches with 101 (RFC 9110 §15.2.2); extended CONNECT answers 200 (RFC 8441 §5). */
const SWITCHED: readonly number[] = [101, 200]

/** Options of `upgrade()`. */
export interface UpgradeOptions<TOpaque = null>
  extends Omit<DispatchOptions, 'method' | 'upgrade'>,
    ApiOptions<TOpaque> {
  /** Default: `GET`. */
  method?: HttpMethod | undefined
  /** The protocol to switch to. Default: `Websocket`. */
  protocol?: string | undefined
}

/** Called once, with an error or with the socket. */
export type UpgradeCallback<TOpaque = null> = (
  error: Error | null,
  data: UpgradeData<TOpaque> & FailedData<TOpaque>,
) => void

/** The answer to an upgrade, with its socket. */
export interface UpgradeData<TOpaque = null> {
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

const UpgradeData = class extends Answered {}

class UpgradeHandler<TOpaque> extends SocketHandler<TOpaque, UpgradeData<TOpaque>> {
  protected override answer(
    controller: DispatchController,
    { statusCode, ...head }: SocketHead<TOpaque>,
  ): UpgradeData<TOpaque> | null {
    return SWITCHED.includes(statusCode) ? Object.assign(new UpgradeData(controller.timings), head) : null
  }

  protected override refusal(): Error {
    return new SocketError('bad upgrade', null)
  }
}

export function upgradeOn<TOpaque>(
  dispatcher: Dispatching,
  opts: UpgradeOptions<TOpaque>,
  callback: UpgradeCallback<TOpaque> | undefined,
): Promise<UpgradeData<TOpaque>> | undefined {
  return answerWith<UpgradeData<TOpaque>, TOpaque>('UNDICI_UPGRADE', opts, callback, (resolve, reject) => {
    const handler = new UpgradeHandler(opts, resolve, reject)
    const method = opts.method || 'GET'
    handler.start(dispatcher, { ...opts, method, upgrade: opts.protocol || DEFAULT_PROTOCOL }, opts.signal)
  })
}
