/**
 * Whether an HTTP/2 connection is still alive. A connection may stay established for hours while the other
 * end is gone, and every request given to it would wait for its timeout. So: a PING in regular intervals; a
 * PING beside the next request when nothing has been heard for a while; and an end to the connection when
 * nothing at all comes back.
 */
import { now } from '../base/clock.ts'
import { Deadline } from '../base/deadline.ts'

/** Silence after which a connection is not trusted: longer than any pause between frames of a busy one. */
export const SILENCE_MS = 10_000

/** How long a PING may go unanswered: several round trips of the slowest links, loss and resending included. */
export const PING_DEADLINE_MS = 10_000

const PING_BYTES = 8

export interface LivenessHost {
  sendPing(opaque: Uint8Array): void
  onPingAnswered(milliseconds: number): void
  onDead(): void
}

export class Http2Liveness {
  readonly #host: LivenessHost
  readonly #interval: number
  readonly #nextPing: Deadline = new Deadline(() => this.#ping())
  readonly #silence: Deadline = new Deadline(() => {
    this.#suspect = true
  })
  readonly #answer: Deadline = new Deadline(() => this.#host.onDead())
  #suspect = false
  #heardThisTurn = false
  #pingsSent = 0
  #sentAt: number | null = null

  constructor(host: LivenessHost, interval: number) {
    this.#host = host
    this.#interval = interval
    this.#nextPing.arm(interval)
    this.#silence.arm(SILENCE_MS)
  }

  /** Something arrived: whatever it is, the peer lives. */
  onReceived(): void {
    this.#suspect = false
    this.#answer.disarm()
    if (this.#heardThisTurn) return
    // One read may come as many TLS records; the time of silence starts once for all of them.
    this.#heardThisTurn = true
    this.#silence.arm(SILENCE_MS)
    globalThis.setImmediate(Http2Liveness.#onTurn, this)
  }

  /** A request is given to the connection. */
  onRequest(): void {
    if (this.#suspect) this.probe()
  }

  /** Something is overdue: asks at once. */
  probe(): void {
    if (!this.#answer.armed) this.#ping()
  }

  onPong(opaque: Uint8Array): void {
    if (this.#sentAt === null || Buffer.from(opaque).readUInt32BE(4) !== this.#pingsSent) return
    const duration = now() - this.#sentAt
    this.#sentAt = null
    this.#host.onPingAnswered(duration)
  }

  stop(): void {
    this.#nextPing.dispose()
    this.#silence.dispose()
    this.#answer.dispose()
  }

  static #onTurn(liveness: Http2Liveness): void {
    liveness.#heardThisTurn = false
  }

  #ping(): void {
    const opaque = Buffer.alloc(PING_BYTES)
    opaque.writeUInt32BE(++this.#pingsSent, 4)
    this.#sentAt = now()
    this.#nextPing.arm(this.#interval)
    if (!this.#answer.armed) this.#answer.arm(PING_DEADLINE_MS)
    this.#host.sendPing(opaque)
  }
}
