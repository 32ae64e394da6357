/** `upgrade()`: asks to switch protocols and hands the socket over. */
import type { PublicFunction } from '../base/error/public-call.ts'
import type { DispatchOptions, HttpMethod } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { ApiOptions } from './api-handler.ts'
import { Answered, type ApiCallback, answerWith, type Reject, type Resolve } from './settlement.ts'
import { type SocketData, SocketHandler } from './socket-handler.ts'

/** Requested if the caller names no protocol; in the letter case of undici. */
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
export type UpgradeCallback<TOpaque = null> = ApiCallback<UpgradeData<TOpaque>, TOpaque>

/** The answer to an upgrade, with its socket. */
export interface UpgradeData<TOpaque = null> extends SocketData<TOpaque> {}

const UpgradeData = class extends Answered {}

export function upgradeOn<TOpaque>(
  dispatcher: Dispatching,
  opts: UpgradeOptions<TOpaque>,
  callback: UpgradeCallback<TOpaque> | undefined,
  called: PublicFunction,
): Promise<UpgradeData<TOpaque>> | undefined {
  const start = (resolve: Resolve<UpgradeData<TOpaque>>, reject: Reject): void => {
    const handler = new SocketHandler(
      opts,
      'bad upgrade',
      resolve,
      reject,
      (timings, { statusCode, ...head }) =>
        SWITCHED.includes(statusCode) ? Object.assign(new UpgradeData(timings), head) : null,
    )
    const method = opts.method || 'GET'
    handler.start(dispatcher, { ...opts, method, upgrade: opts.protocol || DEFAULT_PROTOCOL })
  }
  return answerWith('UNDICI_UPGRADE', dispatcher, opts, callback, start, called)
}
