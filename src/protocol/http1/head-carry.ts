/** The beginning of a head whose rest has not come yet, copied out of the buffers that it came in. */

/** First size of the buffer, and the largest that is kept for the next head. */
const FIRST_BYTES = 1024
const LARGEST_KEPT_BYTES = 4096

export class HeadCarry {
  #memory: Buffer | null = null
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Holds `length` bytes; there must be some. */
  get bytes(): Buffer {
    return this.#memory!
  }

  append(bytes: Buffer, start: number, end: number): void {
    const length = this.#length + end - start
    if (this.#memory === null || this.#memory.length < length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, length * 2))
      if (this.#memory !== null) this.#memory.copy(grown, 0, 0, this.#length)
      this.#memory = grown
    }
    bytes.copy(this.#memory, this.#length, start, end)
    this.#length = length
  }

  clear(): void {
    this.#length = 0
    if (this.#memory !== null && this.#memory.length > LARGEST_KEPT_BYTES) this.#memory = null
  }
}
