/**
 * A piece of input kept to know it again. Under load a server sends the same head many times a second, and to
 * compare bytes costs a small part of parsing them.
 */

/** Longer pieces are not kept: few heads are longer, and each connection holds one. */
const MAX_KEPT_BYTES = 1024

export class KnownBytes {
  readonly #bytes: Uint8Array

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Copies buf[start, end), or returns null for more than is kept. */
  static copyOf(buf: Uint8Array, start: number, end: number): KnownBytes | null {
    return end - start > MAX_KEPT_BYTES
      ? null
      : new KnownBytes(Uint8Array.prototype.slice.call(buf, start, end))
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Whether these bytes stand at buf[start], where there are as many at least. */
  standAt(buf: Uint8Array, start: number): boolean {
    const bytes = this.#bytes
    const length = bytes.length
    for (let i = 0; i < length; i++) {
      if (bytes[i] !== buf[start + i]) return false
    }
    return true
  }
}
