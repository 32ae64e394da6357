/**
 * The body of a response that nobody gets. It is read, so that its connection can be used again, but not at
 * any price. This is the only rule of that kind in the library.
 */

import { clearTimer, startTimer } from '../base/loop/timer.ts'
import type { HeaderObject } from '../protocol/header-block.ts'

/** Reading more costs more than a new connection. */
export const MAX_DISCARDED_BYTES: number = 64 * 1024

/** A peer that trickles its body must not keep the connection, nor hold up what waits for the end. */
export const MAX_DISCARDING_TIME = 1000

export class DiscardedBody {
  readonly #giveUp: () => void
  readonly #maxBytes: number
  #timer: ReturnType<typeof setTimeout> | null = null
  #bytes = 0

  /**
   * @param giveUp Ends a response that is too long, or takes too long.
   * @param kept Bytes that are read for another reason, and do not count.
   */
  constructor(giveUp: () => void, kept = 0) {
    this.#giveUp = giveUp
    this.#maxBytes = kept + MAX_DISCARDED_BYTES
  }

  /** The time runs from here. May end the response at once. */
  begin(headers: HeaderObject | null, hasBody: boolean): void {
    if (hasBody && headers !== null && Number(headers['content-length']) > this.#maxBytes) {
      this.#drop()
      return
    }
    this.#timer = startTimer(() => this.#drop(), MAX_DISCARDING_TIME)
    this.#timer.unref?.()
  }

  take(length: number): void {
    this.#bytes += length
    if (this.#bytes > this.#maxBytes) this.#drop()
  }

  /** The response has ended. */
  stop(): void {
    if (this.#timer !== null) clearTimer(this.#timer)
    this.#timer = null
  }

  #drop(): void {
    this.stop()
    this.#giveUp()
  }
}
