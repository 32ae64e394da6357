/**
 * Bodies that can be read only once, on a connection whose SETTINGS have not come. The server may take few
 * streams, and one that it refuses cannot be opened again if its body was read. So all but one wait; every
 * server takes one.
 */
import { Deadline, type DeadlineOwner } from '../../base/loop/deadline.ts'
import { isReplayable } from '../../request/body-source.ts'
import type { Request } from '../../request/request.ts'
import { ConnectionPart } from '../connection-part.ts'
import type { Http2Host } from './host.ts'

/** A server sends them first (RFC 9113 §3.4). One that does not must not keep requests waiting. */
const PATIENCE_MS = 1000

export class Http2EarlyBodies extends ConnectionPart<Http2Host> implements DeadlineOwner {
  /** Null as long as nothing has waited; `over` when nothing waits any more. */
  #wait: Deadline | 'over' | null = null

  /** Whether the request has to wait. `open`: the streams there are. */
  holds(request: Request, open: number): boolean {
    if (this.#wait === 'over' || open === 0 || isReplayable(request.source)) return false
    if (this.#wait === null) {
      this.#wait = new Deadline(this)
      this.#wait.arm(PATIENCE_MS)
    }
    return true
  }

  onDeadline(): void {
    this.stop()
    this.host.onRoom()
  }

  /** The SETTINGS have come, or the connection has ended. */
  stop(): void {
    if (this.#wait instanceof Deadline) this.#wait.dispose()
    this.#wait = 'over'
  }
}
