/**
 * Whether an HTTP/2 connection is still alive. A connection may stay established for hours while the other
 * end is gone, and every request given to it would wait for its timeout. So: a PING in regular intervals; a
 * PING beside the next request when nothing was received for a while; and an end to the connection when
 * nothing at all comes back.
 */
import { now } from '../../base/loop/clock.ts'
import { Deadline, type DeadlineOwner } from '../../base/loop/deadline.ts'
import { ConnectionPart } from '../connection-part.ts'
import { informational } from '../ends.ts'
import type { Http2Host } from './host.ts'

/** Silence after which a connection is not trusted: longer than any pause between frames of a busy one. */
export const SILENCE_MS = 10_000

/**
 * How long a PING may go unanswered: several round trips of the slowest links, loss and resending included.
 */
export const PING_DEADLINE_MS = 10_000

const PING_BYTES = 8

const UNANSWERED = 'HTTP/2: "PING" errored - type timeout, nothing was received'

export class Http2Liveness extends ConnectionPart<Http2Host> implements DeadlineOwner {
  readonly #interval: number
  readonly #nextPing = new Deadline(this)
  readonly #silence = new Deadline(this)
  readonly #answer = new Deadline(this)
  #suspect = false
  #pingsSent = 0
  #sentAt: number | null = null
  /** When our SETTINGS were sent; null once they were acknowledged. */
  #settingsSentAt: number | null = now()

  constructor(host: Http2Host, interval: number) {
    super(host)
    this.#interval = interval
    this.#nextPing.arm(interval)
    this.#silence.arm(SILENCE_MS)
  }

  /** Something arrived: whatever it is, the peer lives. */
  onReceived(at: number): void {
    this.#suspect = false
    this.#answer.disarm()
    this.#silence.arm(SILENCE_MS, at)
  }

  /** The acknowledgement of our SETTINGS is the first round trip that can be measured. */
  onSettingsAcknowledged(at: number): void {
    if (this.#settingsSentAt === null) return
    const duration = at - this.#settingsSentAt
    this.#settingsSentAt = null
    this.host.onRoundTrip(duration)
  }

  onDeadline(deadline: Deadline): void {
    if (deadline === this.#nextPing) this.#ping()
    else if (deadline === this.#silence) this.#suspect = true
    else this.host.close(informational('timeout', UNANSWERED))
  }

  /** A request is given to the connection. */
  onRequest(): void {
    if (this.#suspect) this.probe()
  }

  /** Something is overdue: asks at once. */
  probe(): void {
    if (!this.#answer.armed) this.#ping()
  }

  /** Asks in any case. Returns what `onPong` returns for the answer. */
  ask(): number {
    this.#ping()
    return this.#pingsSent
  }

  /** Returns which PING was answered; those before it have been as well. 0 for one that was never sent. */
  onPong(opaque: Uint8Array): number {
    const answered = Number(Buffer.from(opaque).readBigUInt64BE())
    if (answered > this.#pingsSent) return 0
    if (answered === this.#pingsSent) this.#measure()
    return answered
  }

  #measure(): void {
    if (this.#sentAt === null) return
    const duration = now() - this.#sentAt
    this.#sentAt = null
    this.host.onRoundTrip(duration)
    this.host.onPingAnswered(duration)
  }

  stop(): void {
    this.#nextPing.dispose()
    this.#silence.dispose()
    this.#answer.dispose()
  }

  #ping(): void {
    const opaque = Buffer.alloc(PING_BYTES)
    opaque.writeUInt32BE(++this.#pingsSent, 4)
    this.#sentAt = now()
    this.#nextPing.arm(this.#interval)
    if (!this.#answer.armed) this.#answer.arm(PING_DEADLINE_MS)
    this.host.sendPing(opaque)
  }
}
