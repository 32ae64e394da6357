/**
 * A piece of input kept to know it again. Under load a server sends the same head many times a second, and to
 * compare bytes costs a small part of parsing them.
 */

/** Longer pieces are not kept: few heads are longer, and each connection holds one. */
const MAX_KEPT_BYTES = 1024

/** Up to here a loop is quicker than a call into the runtime. */
const LOOP_BELOW_BYTES = 32

export class KnownBytes {
  readonly #bytes: Buffer

  private constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Copies buf[start, end), or returns null for more than is kept. */
  static copyOf(buf: Buffer, start: number, end: number): KnownBytes | null {
    return end - start > MAX_KEPT_BYTES ? null : new KnownBytes(Buffer.from(buf.subarray(start, end)))
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Whether these bytes stand at buf[start], where there are as many at least. */
  standAt(buf: Buffer, start: number): boolean {
    const bytes = this.#bytes
    const length = bytes.length
    if (length >= LOOP_BELOW_BYTES) return bytes.compare(buf, start, start + length) === 0
    for (let i = 0; i < length; i++) {
      if (bytes[i] !== buf[start + i]) return false
    }
    return true
  }
}
