/**
 * How receive windows grow with the bandwidth-delay product. Owns the round-trip estimate and the memory
 * that growth may cost in total. A window is doubled when one round trip's arrivals fill half of it and the
 * consumer keeps up, so it settles at two to four times the product; a consumer that stops reading keeps
 * what its stream has, and nothing of the connection's. That of the connection grows with the number of its
 * streams, too: it bounds no memory, because it is given back as bytes arrive.
 */

import { MAX_WINDOW } from './constants.ts'
import type { ReceiveWindow } from './flow-window.ts'
import { MAX_CONNECTION_WINDOW, MAX_STREAM_WINDOW, MAX_TOTAL_GROWTH } from './limits.ts'

export interface GrowthOptions {
  /** Greatest window of one stream (default 16 MiB). */
  readonly maxStreamWindow?: number
  /** Greatest window of the connection for the sake of the bandwidth-delay product (default 32 MiB). */
  readonly maxConnectionWindow?: number
  /** Greatest window of the connection for the sake of its streams (default 2^31-1). */
  readonly maxCoveringWindow?: number
  /** Growth of all streams of a connection together (default 64 MiB). */
  readonly maxTotalGrowth?: number
}

const LIMITS: Required<GrowthOptions> = {
  maxStreamWindow: MAX_STREAM_WINDOW,
  maxConnectionWindow: MAX_CONNECTION_WINDOW,
  maxCoveringWindow: MAX_WINDOW,
  maxTotalGrowth: MAX_TOTAL_GROWTH,
}

export class WindowGrowth {
  readonly #initialStreamWindow: number
  readonly #limits: Required<GrowthOptions>
  #grown = 0
  /** The least seen: queues on the way only ever add. 0 until a sample came. */
  #roundTrip = 0

  constructor(initialStreamWindow: number, options: GrowthOptions) {
    this.#initialStreamWindow = initialStreamWindow
    this.#limits = { ...LIMITS, ...options }
  }

  addRoundTrip(milliseconds: number): void {
    if (milliseconds > 0 && (this.#roundTrip === 0 || milliseconds < this.#roundTrip)) {
      this.#roundTrip = milliseconds
    }
  }

  /** Returns the increment to announce for a stream, 0 if its window stays as it is. */
  onStreamData(window: ReceiveWindow, now: number, bytes: number): number {
    if (this.#roundTrip === 0 || !window.limitsPeer(now, bytes, this.#roundTrip)) return 0
    const size = window.size
    const room = Math.min(this.#limits.maxStreamWindow - size, this.#limits.maxTotalGrowth - this.#grown)
    const growth = Math.min(size, room)
    if (growth <= 0) return 0
    this.#grown += growth
    return window.grow(size + growth)
  }

  /** The same for the connection. */
  onConnectionData(window: ReceiveWindow, now: number, bytes: number): number {
    if (this.#roundTrip === 0 || !window.limitsPeer(now, bytes, this.#roundTrip)) return 0
    const growth = Math.min(window.size, this.#limits.maxConnectionWindow - window.size)
    return growth <= 0 ? 0 : window.grow(window.size + growth)
  }

  /**
   * The same for a connection with this many streams, which together never use it up. A server of node:http2
   * resets responses whose END_STREAM has to wait for this window, with NO_ERROR. A window that is smaller than
   * that of one stream is meant to hold them back.
   */
  onStreams(window: ReceiveWindow, count: number): number {
    const { size } = window
    const wanted = count * this.#initialStreamWindow + this.#grown
    if (wanted <= size || size < this.#initialStreamWindow) return 0
    const grown = Math.min(Math.max(wanted, size * 2), this.#limits.maxCoveringWindow)
    return grown <= size ? 0 : window.grow(grown)
  }

  /** The stream is gone; its growth is free for others. */
  onStreamClosed(window: ReceiveWindow): void {
    this.#grown -= window.size - this.#initialStreamWindow
  }
}
