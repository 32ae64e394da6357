/**
 * Streams that the peer has reset with NO_ERROR though their responses are not complete. That is no answer to any of
 * the requests: a server that ends its process does so with each of its streams before it closes the connection. So
 * these requests wait for what follows. If the connection ends, they were lost with it like all others on it; if the
 * peer answers a PING that it got afterwards, it has meant each of them.
 */
import type { EndReason } from '../../request/end-reason.ts'
import type { Http2Exchange } from './exchange.ts'
import type { Http2Liveness } from './liveness.ts'

interface Unexplained {
  readonly exchange: Http2Exchange
  /** How its request ends if the connection goes on. */
  readonly reason: EndReason
  /** The number of the PING whose answer shows that; 0 as long as none was sent. */
  ping: number
}

export class UnexplainedResets {
  #resets: Unexplained[] = []

  /** The connection may be about to end: it takes nothing new. */
  get isEmpty(): boolean {
    return this.#resets.length === 0
  }

  add(exchange: Http2Exchange, reason: EndReason): void {
    this.#resets.push({ exchange, reason, ping: 0 })
  }

  /** All that came with a read has been looked at. */
  endRead(liveness: Http2Liveness): void {
    if (this.#resets.length === 0 || this.#resets.at(-1)!.ping !== 0) return
    const ping = liveness.ask()
    for (const reset of this.#resets) if (reset.ping === 0) reset.ping = ping
  }

  /** The connection goes on. */
  onPong(ping: number): void {
    if (this.#resets.length === 0) return
    const explained = this.#resets.filter((reset) => reset.ping <= ping && reset.ping !== 0)
    this.#resets = this.#resets.filter((reset) => !explained.includes(reset))
    for (const { exchange, reason } of explained) exchange.onLost(reason)
  }

  /** The connection has ended. */
  onEnd(reason: EndReason): void {
    const resets = this.#resets
    this.#resets = []
    for (const { exchange } of resets) exchange.onLost(reason)
  }
}
