/**
 * The two waits of an HTTP/2 connection on which nothing runs: for the end of its keep-alive time, and for a
 * peer that does not allow a single stream, which must not keep a request forever.
 */
import { Deadline, type DeadlineOwner } from '../../base/loop/deadline.ts'
import { ConnectionPart } from '../connection-part.ts'
import { idleTimeout, noStream } from '../ends.ts'
import type { Http2Host } from './host.ts'

export class Http2Idle extends ConnectionPart<Http2Host> implements DeadlineOwner {
  readonly #keepAlive = new Deadline(this)
  readonly #stream = new Deadline(this)
  #streamTimeout = 0

  /** When the keep-alive time began; null while it does not run. */
  get since(): number | null {
    return this.#keepAlive.armed ? this.#keepAlive.armedAt : null
  }

  /** No request waits or runs. */
  begin(keepAliveTimeout: number): void {
    this.#stream.disarm()
    this.#keepAlive.arm(keepAliveTimeout)
  }

  /** A request waits. */
  end(): void {
    this.#keepAlive.disarm()
  }

  /** A request waits for the first stream. */
  awaitStream(timeout: number): void {
    if (this.#stream.armed) return
    this.#streamTimeout = timeout
    this.#stream.arm(timeout)
  }

  /** A stream is opened. */
  onStream(): void {
    this.#stream.disarm()
    this.#keepAlive.disarm()
  }

  stop(): void {
    this.#keepAlive.dispose()
    this.#stream.dispose()
  }

  onDeadline(deadline: Deadline): void {
    this.host.close(deadline === this.#keepAlive ? idleTimeout() : noStream(this.#streamTimeout))
  }
}
