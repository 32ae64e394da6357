/**
 * A piece of input kept to know it again. Under load a server sends the same head many times a second, and to
 * compare bytes costs a small part of parsing them.
 */

/** Longer pieces are not kept: few heads are longer, and each connection holds one. */
const MAX_KEPT_BYTES = 1024

/** Memory to begin with, enough for most. */
const FIRST_BYTES = 256

/** Up to here a loop is quicker than a call into the runtime. */
const LOOP_BELOW_BYTES = 32

const NONE = Buffer.alloc(0)

export class KnownBytes {
  /** Its own, and used again: a part of memory that others share would keep all of it alive. */
  #memory: Buffer = NONE
  #length = 0

  /** Bytes that are kept; 0 for none. */
  get length(): number {
    return this.#length
  }

  /** Copies buf[start, end) in place of what was kept; false for more than is kept. */
  keep(buf: Buffer, start: number, end: number): boolean {
    const length = end - start
    this.#length = 0
    if (length > MAX_KEPT_BYTES) return false
    if (length > this.#memory.length) {
      this.#memory = Buffer.allocUnsafeSlow(length > FIRST_BYTES ? MAX_KEPT_BYTES : FIRST_BYTES)
    }
    buf.copy(this.#memory, 0, start, end)
    this.#length = length
    return true
  }

  /** Whether the kept bytes stand at buf[start], where there are as many at least. */
  standAt(buf: Buffer, start: number): boolean {
    const memory = this.#memory
    const length = this.#length
    if (length >= LOOP_BELOW_BYTES) {
      // `compare` takes offsets and needs no views, but Deno's is wrong with them.
      return memory.subarray(0, length).equals(buf.subarray(start, start + length))
    }
    for (let i = 0; i < length; i++) {
      if (memory[i] !== buf[start + i]) return false
    }
    return true
  }
}
