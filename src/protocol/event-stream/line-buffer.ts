/**
 * The start of a line whose end has not arrived. It copies, so that a few bytes do not keep the memory of a whole
 * chunk, and grows by doubling: a line that arrives byte by byte costs as much as one that arrives at once.
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'

const LEAST_CAPACITY = 256
/** A buffer up to this size is kept for the next line. */
const KEPT_CAPACITY = 16_384

export class LineBuffer {
  #memory: Buffer = NO_BYTES
  #length = 0

  get length(): number {
    return this.#length
  }

  append(bytes: Buffer, start: number, end: number): void {
    const length = this.#length + end - start
    if (length > this.#memory.length) this.#grow(length)
    bytes.copy(this.#memory, this.#length, start, end)
    this.#length = length
  }

  /** The bytes stay valid until the next `append`. */
  take(): Buffer {
    const line = this.#memory.subarray(0, this.#length)
    this.clear()
    return line
  }

  clear(): void {
    this.#length = 0
    if (this.#memory.length > KEPT_CAPACITY) this.#memory = NO_BYTES
  }

  #grow(length: number): void {
    const memory = Buffer.allocUnsafeSlow(Math.max(length, this.#memory.length * 2, LEAST_CAPACITY))
    this.#memory.copy(memory, 0, 0, this.#length)
    this.#memory = memory
  }
}
