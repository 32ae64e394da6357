/**
 * Connections whose idle time is over. Closing a socket takes longer than a request, and connections that
 * were used together time out together: one is closed in each turn of the event loop, so that a request that
 * is due does not wait for all of them. Until then they take requests: a new connection takes longer still.
 */
import { RingQueue } from '../../base/collection/ring-queue.ts'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import type { EndReason } from '../../request/end-reason.ts'
import { idleTimeout } from '../ends.ts'

interface Expired {
  /** No request has come meanwhile. */
  readonly isExpired: boolean
  /** A request waits for the end of the inspection. */
  readonly isInspecting: boolean
  /** The socket was reset: if it is slow to close, the inspection does not end. */
  readonly isLost: boolean
  destroy(reason: EndReason): void
  onBroken(error: Error): void
}

const expired = new RingQueue<Expired>()

export function closeInTurn(connection: Expired): void {
  expired.push(connection)
  if (expired.size === 1) runtimeSetImmediate(closeNext)
}

function closeNext(): void {
  const connection = expired.shift()!
  if (expired.size > 0) runtimeSetImmediate(closeNext)
  try {
    if (!connection.isExpired) return
    if (connection.isInspecting && !connection.isLost) closeInTurn(connection)
    else connection.destroy(idleTimeout())
  } catch (error) {
    connection.onBroken(error as Error)
  }
}
