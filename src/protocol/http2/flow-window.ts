/**
 * One flow-control window in either direction (RFC 9113 §5.2, §6.9): the arithmetic and when to announce.
 * Whether a window grows, and how far, is decided in `window-growth.ts`.
 */
import { invariant } from '../../base/error/invariant.ts'
import { MAX_WINDOW } from './constants.ts'

/**
 * A window is given back in parts of this share: four leave the peer three quarters of it at the worst, at
 * the price of one small frame for each 64 KiB of a 256 KiB window.
 */
const ANNOUNCED_PARTS = 4

/**
 * The bytes that we may still send. Below zero after the peer has lowered SETTINGS_INITIAL_WINDOW_SIZE
 * (§6.9.2).
 */
export class SendWindow {
  available: number

  constructor(initial: number) {
    this.available = initial
  }

  take(bytes: number): void {
    invariant(bytes <= this.available, 'sent more than the window allows')
    this.available -= bytes
  }

  /** False when the window would pass 2^31-1, which is the peer's error (§6.9.1). */
  add(delta: number): boolean {
    const sum = this.available + delta
    if (sum > MAX_WINDOW) return false
    this.available = sum
    return true
  }
}

/**
 * The bytes that the peer may still send. At all times: available + held (delivered, not yet released) + owed
 * (released, not yet announced) = size.
 */
export class ReceiveWindow {
  size: number
  available: number
  #owed: number

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
}
