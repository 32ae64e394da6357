/**
 * The bytes that came last, kept to recognise them. Under load a server sends the same head many times a
 * second, and comparing bytes costs a small part of parsing them.
 */
import { NO_BYTES } from '../base/bytes/empty.ts'

/** Longer pieces are not kept: few heads are longer, and each connection holds one. */
const MAX_KEPT_BYTES = 1024

/** First size of the memory, enough for most heads. */
const FIRST_BYTES = 256

export class LastBytes {
  /** Reused, and not a part of shared memory, all of which it would keep alive. */
  #memory: Buffer = NO_BYTES
  /** The part of the memory that is in use. */
  #stored: Buffer = NO_BYTES

  /** Number of bytes stored; 0 for none. */
  get length(): number {
    return this.#stored.length
  }

  /** Copies buf[start, end) over what was stored. False, and nothing is stored, if it is too long. */
  store(buf: Buffer, start: number, end: number): boolean {
    const length = end - start
    this.#stored = NO_BYTES
    if (length > MAX_KEPT_BYTES) return false
    if (length > this.#memory.length) {
      this.#memory = Buffer.allocUnsafeSlow(length > FIRST_BYTES ? MAX_KEPT_BYTES : FIRST_BYTES)
    }
    buf.copy(this.#memory, 0, start, end)
    this.#stored = this.#memory.subarray(0, length)
    return true
  }

  /** Whether buf holds the stored bytes at `start`, where at least `length` bytes follow. */
  matches(buf: Buffer, start: number): boolean {
    return this.#stored.equals(buf.subarray(start, start + this.#stored.length))
  }
}
