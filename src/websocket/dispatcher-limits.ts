/** The limits on received messages, which the dispatcher of a connection keeps. */

import type { WebSocketLimits } from '../protocol/websocket/limits.ts'
import type { Dispatching } from '../request/dispatching.ts'

const NO_LIMITS: WebSocketLimits = { maxFragments: 0, maxPayloadSize: 0 }

/** Dispatchers of other libraries may not have this option; then nothing is limited. */
export function limitsOf(dispatcher: Dispatching): WebSocketLimits {
  const { webSocketOptions } = dispatcher as { webSocketOptions?: Partial<WebSocketLimits> }
  return { ...NO_LIMITS, ...webSocketOptions }
}
