/**
 * A request body that waits until the server wants it (RFC 9110 §10.1.1). A 100 asks for it. So does a 2xx
 * that comes without one: the server works on the content as it arrives. After any other final status it is
 * not needed. Servers and proxies that know nothing of this stay silent, and get the body after a second.
 */
import { Deadline, type DeadlineOwner } from '../base/loop/deadline.ts'
import { ConnectionPart } from './connection-part.ts'

/** As curl waits; a server that has anything to say about the head says it sooner. */
const PATIENCE_MS = 1000

/** Where the body is sent. */
export interface ExpectationHost {
  /** Called once, unless `stop` comes before. */
  onExpected(): void
  onBroken(error: Error): void
}

export class Expectation extends ConnectionPart<ExpectationHost> implements DeadlineOwner {
  readonly #patience = new Deadline(this)

  constructor(host: ExpectationHost) {
    super(host)
    this.#patience.arm(PATIENCE_MS)
  }

  onFinalHead(status: number): void {
    if (status >= 200 && status < 300) this.meet()
    else this.stop()
  }

  onDeadline(): void {
    this.host.onExpected()
  }

  /** The body is not wanted any more. */
  stop(): void {
    this.#patience.dispose()
  }

  /** The body is wanted. */
  meet(): void {
    if (!this.#patience.armed) return
    this.#patience.dispose()
    this.host.onExpected()
  }
}
