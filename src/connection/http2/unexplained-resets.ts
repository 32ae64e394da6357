/**
 * Streams that the peer has reset with NO_ERROR though their responses are not complete. That does not say
 * why: a server whose process ends resets each of its streams this way before it closes the connection. So
 * these requests wait for what follows. If the connection ends, they were lost with it. If the peer answers a
 * PING that was sent afterwards, it reset each of them on purpose. The same is assumed if the connection goes
 * on and the PING stays unanswered for long, because nothing new is sent meanwhile.
 */
import { Deadline, type DeadlineOwner } from '../../base/loop/deadline.ts'
import type { EndReason } from '../../request/end-reason.ts'
import { ConnectionPart } from '../connection-part.ts'
import type { Http2Exchange } from './exchange.ts'
import type { Http2Host } from './host.ts'
import { type Http2Liveness, PING_DEADLINE_MS } from './liveness.ts'

interface Unexplained {
  readonly exchange: Http2Exchange
  /** How its request ends if the connection goes on. */
  readonly reason: EndReason
  /** The number of the PING whose answer shows that; 0 as long as none was sent. */
  ping: number
}

export class UnexplainedResets extends ConnectionPart<Http2Host> implements DeadlineOwner {
  #resets: Unexplained[] = []
  /** Null before the first. */
  #patience: Deadline | null = null

  /** The connection may be about to end: it takes nothing new. */
  get isEmpty(): boolean {
    return this.#resets.length === 0
  }

  add(exchange: Http2Exchange, reason: EndReason): void {
    this.#resets.push({ exchange, reason, ping: 0 })
  }

  /** All that came with a read has been handled. */
  endRead(liveness: Http2Liveness): void {
    if (this.#resets.length === 0 || this.#resets.at(-1)!.ping !== 0) return
    const ping = liveness.ask()
    for (const reset of this.#resets) if (reset.ping === 0) reset.ping = ping
    this.#patience ??= new Deadline(this)
    if (!this.#patience.armed) this.#patience.arm(PING_DEADLINE_MS)
  }

  /** The connection goes on. */
  onPong(ping: number): void {
    if (this.#resets.length === 0) return
    this.#explain((reset) => reset.ping <= ping && reset.ping !== 0)
  }

  onDeadline(): void {
    this.#explain(() => true)
  }

  #explain(isExplained: (reset: Unexplained) => boolean): void {
    const explained = this.#resets.filter(isExplained)
    this.#resets = this.#resets.filter((reset) => !explained.includes(reset))
    if (this.#resets.length === 0) this.#patience?.disarm()
    for (const { exchange, reason } of explained) exchange.onLost(reason)
    // Their callers may have given them up, and then nothing else says so.
    if (this.#resets.length === 0) this.host.onRoom()
  }

  /** The connection has ended. */
  onEnd(reason: EndReason): void {
    this.#patience?.dispose()
    const resets = this.#resets
    this.#resets = []
    for (const { exchange } of resets) exchange.onLost(reason)
  }
}
