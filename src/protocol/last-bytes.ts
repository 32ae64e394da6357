/**
 * The bytes that came last, kept to recognise them. Under load a server sends the same head many times a
 * second, and comparing bytes costs a small part of parsing them.
 */
import { NO_BYTES } from '../base/empty.ts'

/** Longer pieces are not kept: few heads are longer, and each connection holds one. */
const MAX_KEPT_BYTES = 1024

/** First size of the memory, enough for most heads. */
const FIRST_BYTES = 256

/**
 * The bytes that were compared last, and a view of them that reads four at a time: sockets read into the same memory
 * again and again. A call into the runtime takes longer than to compare a usual head like this.
 */
let viewed: Buffer = NO_BYTES
let view: DataView = new DataView(NO_BYTES.buffer, 0, 0)

function viewOf(buf: Buffer): DataView {
  if (buf !== viewed) {
    view = new DataView(buf.buffer, buf.byteOffset, buf.length)
    viewed = buf
  }
  return view
}

export class LastBytes {
  /** Reused, and not a part of shared memory, all of which it would keep alive. */
  #memory: Buffer = NO_BYTES
  #view: DataView = view
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
      const size = length > FIRST_BYTES ? MAX_KEPT_BYTES : FIRST_BYTES
      this.#memory = Buffer.allocUnsafeSlow(size)
      this.#view = new DataView(this.#memory.buffer, 0, size)
    }
    buf.copy(this.#memory, 0, start, end)
    this.#length = length
    return true
  }

  /** Whether buf holds the stored bytes at `start`, where at least `length` bytes follow. */
  matches(buf: Buffer, start: number): boolean {
    const memory = this.#memory
    const stored = this.#view
    const given = viewOf(buf)
    const length = this.#length
    let i = 0
    for (; i + 4 <= length; i += 4) {
      if (stored.getInt32(i) !== given.getInt32(start + i)) return false
    }
    for (; i < length; i++) {
      if (memory[i] !== buf[start + i]) return false
    }
    return true
  }
}
