/**
 * The bytes that came last, kept to recognise them. Under load a server sends the same head many times a
 * second, and comparing bytes costs a small part of parsing them.
 */
import { NO_BYTES } from '../base/empty.ts'

/** Longer pieces are not kept: few heads are longer, and each connection holds one. */
const MAX_KEPT_BYTES = 1024

/** First size of the memory, enough for most heads. */
const FIRST_BYTES = 256

/** Up to here a loop is faster than a call into the runtime. */
const LOOP_BELOW_BYTES = 32

/** Whether `length` bytes from `start` on are the first ones of `memory`. */
type Comparison = (memory: Buffer, length: number, buf: Buffer, start: number) => boolean

/** Without views, which take longer to make than the bytes to compare. */
export const equalInRange: Comparison = (memory, length, buf, start) =>
  buf.compare(memory, 0, length, start, start + length) === 0

export const equalInViews: Comparison = (memory, length, buf, start) =>
  memory.subarray(0, length).equals(buf.subarray(start, start + length))

/** The first that is right: Deno's `compare` is wrong with offsets. */
const equal: Comparison = [equalInRange, equalInViews].find((candidate) =>
  candidate(Buffer.from('bc'), 1, Buffer.from('ab'), 1),
)!

export class LastBytes {
  /** Reused, and not a part of shared memory, all of which it would keep alive. */
  #memory: Buffer = NO_BYTES
  #length = 0

  /** Number of bytes stored; 0 for none. */
  get length(): number {
    return this.#length
  }

  /** Copies buf[start, end) over what was stored. False, and nothing is stored, if it is too long. */
  store(buf: Buffer, start: number, end: number): boolean {
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

  /** Whether buf holds the stored bytes at `start`, where at least `length` bytes follow. */
  matches(buf: Buffer, start: number): boolean {
    const memory = this.#memory
    const length = this.#length
    if (length >= LOOP_BELOW_BYTES) return equal(memory, length, buf, start)
    for (let i = 0; i < length; i++) {
      if (memory[i] !== buf[start + i]) return false
    }
    return true
  }
}
