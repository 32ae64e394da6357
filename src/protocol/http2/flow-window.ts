/**
 * A window for what the peer sends (RFC 9113 §5.2, §6.9): the arithmetic, when to announce, and whether it
 * holds the peer back. Whether it grows, and how far, is decided in `window-growth.ts`.
 */
import { invariant } from '../../base/error/invariant.ts'

/**
 * A window is given back in parts of this share: four leave the peer three quarters of it at the worst, at
 * the price of one small frame for each 64 KiB of a 256 KiB window.
 */
const ANNOUNCED_PARTS = 4

/**
 * The bytes that the peer may still send. At all times: available + held (delivered, not yet released) + owed
 * (released, not yet announced) = size.
 */
export class ReceiveWindow {
  size: number
  available: number
  #owed: number
  /** Start of the present span and the bytes that came in it; -1 before the first. */
  #measuredFrom = -1
  #measuredBytes = 0

  /** `announced` is the size that the peer assumes at first; it may differ from the wanted one. */
  constructor(size: number, announced: number) {
    this.size = size
    this.available = announced
    this.#owed = size - announced
  }

  get held(): number {
    return this.size - this.available - this.#owed
  }

  /** False when the peer has sent more than it may. */
  receive(bytes: number): boolean {
    if (bytes > this.available) return false
    this.available -= bytes
    return true
  }

  /** Returns the increment to announce now, or 0: small credits are saved up. */
  release(bytes: number): number {
    invariant(bytes <= this.held, 'released more than was received')
    this.#owed += bytes
    return this.#owed * ANNOUNCED_PARTS >= this.size ? this.announce() : 0
  }

  /** Everything owed, however little. A window that shall be smaller than announced owes nothing yet. */
  announce(): number {
    if (this.#owed <= 0) return 0
    const increment = this.#owed
    this.available += increment
    this.#owed = 0
    return increment
  }

  /** Enlarges the window; returns the increment to announce. */
  grow(size: number): number {
    this.#owed += size - this.size
    this.size = size
    return this.announce()
  }

  /**
   * Counts arrivals, after `receive`, over spans of one round trip. True at the end of a span in which the
   * peer sent at the pace that this window allows, while the consumer kept up: then the window holds the peer
   * back.
   */
  limitsPeer(now: number, bytes: number, roundTrip: number): boolean {
    if (this.#measuredFrom < 0) {
      this.#measuredFrom = now
      this.#measuredBytes = bytes
      return false
    }
    const elapsed = now - this.#measuredFrom
    if (elapsed < roundTrip) {
      this.#measuredBytes += bytes
      return false
    }
    const perRoundTrip = (this.#measuredBytes * roundTrip) / elapsed
    this.#measuredFrom = now
    this.#measuredBytes = bytes
    return perRoundTrip * 2 >= this.size && (this.held - bytes) * 2 <= this.size
  }
}
