/**
 * A request body that waits until the server wants it (RFC 9110 §10.1.1). A 100 asks for it. So does a 2xx
 * that comes without one: the server works on the content as it arrives. After any other final status it is
 * not needed. Servers and proxies that know nothing of this stay silent, and get the body after a while.
 */
import { Deadline, type DeadlineOwner } from '../base/loop/deadline.ts'
import type { Request } from '../request/request.ts'
import type { ConnectionSettings } from './connection.ts'
import { ConnectionPart } from './connection-part.ts'

/** Where the body is sent. */
export interface ExpectationHost {
  /** Called once, unless `stop` comes before. */
  onExpected(): void
  onBroken(error: Error): void
}

export class Expectation extends ConnectionPart<ExpectationHost> implements DeadlineOwner {
  readonly #patience = new Deadline(this)
  #isOpen = true

  constructor(host: ExpectationHost, request: Request, settings: ConnectionSettings) {
    super(host)
    this.#patience.arm(patienceOf(request, settings))
    const { source } = request
    if (source.kind !== 'stream') return
    // Its owner may destroy it, which is noticed where it is read, and may have no limit of time before that.
    source.stream.on('close', () => {
      if (!request.settled) this.meet()
    })
  }

  onFinalHead(status: number): void {
    if (status >= 200 && status < 300) this.meet()
    else this.stop()
  }

  onDeadline(): void {
    this.meet()
  }

  /** The body is not wanted any more. */
  stop(): void {
    this.#isOpen = false
    this.#patience.dispose()
  }

  /** The body is wanted. */
  meet(): void {
    if (!this.#isOpen) return
    this.stop()
    this.host.onExpected()
  }
}

/**
 * Milliseconds; 0 for any number. The time for a response head is not exceeded: it begins when the body is
 * sent, and might never begin otherwise.
 */
function patienceOf(request: Request, settings: ConnectionSettings): number {
  const own = request.expectContinueTimeout ?? settings.expectContinueTimeout
  const head = request.headersTimeout ?? settings.headersTimeout
  return own > 0 && head > 0 ? Math.min(own, head) : own || head
}
