/**
 * The exchanges that run on one HTTP/2 connection, and the timers that they share.
 */
import { Deadline } from '../../base/loop/deadline.ts'
import type { Transport } from '../../net/stream-transport.ts'
import type { ExchangeRegister } from '../exchange.ts'
import type { Http2Exchange } from './exchange.ts'

export class Http2Exchanges implements ExchangeRegister<Http2Exchange> {
  readonly #transport: Transport
  running = 0
  /** All that there have been, those that run included. */
  begun = 0
  /** Their streams have ended, but their consumers pause before the end of the response. */
  readonly heldBack: Set<Http2Exchange> = new Set<Http2Exchange>()
  /** Of exchanges that have ended, their timers still running: the next exchange takes one. */
  readonly #deadlines: Deadline[] = []
  /** Exchanges that the present read brought something for. Most of them end with it, and need no timer. */
  readonly active: Http2Exchange[] = []
  /** Tunnels that wait for nothing: alone they do not keep the process alive. */
  readonly #unreferenced = new Set<Http2Exchange>()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  nextDeadline(): Deadline {
    return this.#deadlines.pop() ?? new Deadline(null)
  }

  onBegun(): void {
    this.running++
    this.begun++
  }

  /** `isLast`: the connection is over, and its timers of no use. */
  onSettled(exchange: Http2Exchange, isLast: boolean): void {
    this.running--
    if (this.heldBack.size > 0) this.heldBack.delete(exchange)
    if (isLast) exchange.takeDeadline().dispose()
    else this.#deadlines.push(exchange.takeDeadline())
    if (this.#unreferenced.size > 0) this.refer(exchange, true)
  }

  refer(exchange: Http2Exchange, on: boolean): void {
    if (on) this.#unreferenced.delete(exchange)
    else this.#unreferenced.add(exchange)
    this.#transport.setReferenced(this.running > this.#unreferenced.size)
  }

  /** All that came with a read has been handled. */
  endRead(): void {
    for (let exchange = this.active.pop(); exchange !== undefined; exchange = this.active.pop()) {
      exchange.rearm()
    }
  }

  stop(): void {
    for (const deadline of this.#deadlines) deadline.dispose()
  }
}
