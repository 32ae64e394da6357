/** The dispatcher of a connection, and its limits on received messages. */

import { getGlobalDispatcher } from '../global/global-dispatcher.ts'
import type { WebSocketLimits } from '../protocol/websocket/limits.ts'
import type { Dispatching } from '../request/dispatching.ts'

/** Dispatchers of other libraries may not have this option; then nothing is limited. */
export function limitsOf(dispatcher: Dispatching): WebSocketLimits {
  const { webSocketOptions } = dispatcher as { webSocketOptions?: Partial<WebSocketLimits> }
  return { maxFragments: 0, maxPayloadSize: 0, ...webSocketOptions }
}

/** The global one by default. @throws {TypeError} */
export function dispatcherOf(given: Dispatching | null | undefined): Dispatching {
  const dispatcher = given ?? getGlobalDispatcher()
  if (typeof dispatcher.dispatch === 'function') return dispatcher
  throw new TypeError('dispatcher must implement dispatch')
}
