/**
 * The last head that came, with its bytes: one that repeats them is not parsed again. Under load a server
 * sends the same head many times a second, and comparing bytes costs a small part of parsing them. Servers
 * that sign or trace each response never repeat one: after several in a row that differ, most of the next are
 * not compared.
 */
import { NO_BYTES } from '../base/bytes/empty.ts'
import type { HeaderBlock } from './header-block.ts'

/** Longer heads are not kept: few are longer, and each HTTP/2 connection holds one. */
const MAX_KEPT_BYTES = 1024

/** First size of the memory, enough for most heads. */
const FIRST_BYTES = 256

/** After this many in a row that differ, the next are not compared. */
const MAX_MISSES = 8

/** Heads that are not compared before one is again. */
const SKIPPED = 64

export class HeadMemory<T extends { readonly fields: HeaderBlock }> {
  #head: T | null = null
  /** Reused, and not a part of shared memory, all of which it would keep alive. */
  #memory: Buffer = NO_BYTES
  /** The bytes of the head: the part of the memory that is in use. */
  #bytes: Buffer = NO_BYTES
  /** Differences in a row; beyond `MAX_MISSES`, heads that were not compared. */
  #misses = 0
  /** The present head was compared; if it was not, it is not stored either. */
  #isCompared = true

  /** Bytes of the stored head. */
  get length(): number {
    return this.#bytes.length
  }

  /** The stored head, if bytes[start, end) begins with it. */
  find(bytes: Buffer, start: number, end: number): T | null {
    this.#isCompared = this.#countNext()
    if (this.#head === null || !this.#isCompared) return null
    const stop = start + this.#bytes.length
    if (stop > end || this.#bytes.compare(bytes, start, stop) !== 0) {
      this.#misses++
      return null
    }
    this.#misses = 0
    this.#head.fields.prepareForReuse()
    return this.#head
  }

  /** Returns whether the next head is to be compared. */
  #countNext(): boolean {
    if (this.#misses < MAX_MISSES) return true
    this.#misses = this.#misses === MAX_MISSES + SKIPPED ? MAX_MISSES - 1 : this.#misses + 1
    return false
  }

  /** Replaces the stored head by a copy; one that is too long leaves none. */
  store(bytes: Buffer, start: number, end: number, head: T): void {
    if (!this.#isCompared) return
    const length = end - start
    this.#head = length > MAX_KEPT_BYTES ? null : head
    if (this.#head === null) return
    if (length > this.#memory.length) {
      this.#memory = Buffer.allocUnsafeSlow(length > FIRST_BYTES ? MAX_KEPT_BYTES : FIRST_BYTES)
    }
    bytes.copy(this.#memory, 0, start, end)
    this.#bytes = this.#memory.subarray(0, length)
  }
}
