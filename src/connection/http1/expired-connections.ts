/**
 * Connections whose idle time is over. Closing a socket takes longer than a request, and connections that
 * were used together time out together: one is closed in each turn of the event loop, so that a request that
 * is due does not wait for all of them.
 */
import { RingQueue } from '../../base/collection/ring-queue.ts'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import type { EndReason } from '../../request/end-reason.ts'
import { idleTimeout } from '../ends.ts'

interface Expired {
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
    connection.destroy(idleTimeout())
  } catch (error) {
    connection.onBroken(error as Error)
  }
}
