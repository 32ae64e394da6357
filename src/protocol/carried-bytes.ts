/**
 * The beginning of something whose rest has not come yet, such as a line or a head, copied out of the buffers
 * that it came in. It grows by doubling: what comes byte by byte costs as much as what comes at once.
 */
import { NO_BYTES } from '../base/bytes/empty.ts'

const FIRST_BYTES = 1024

export class CarriedBytes {
  /** The memory, whose first `length` bytes are in use. */
  bytes: Buffer = NO_BYTES
  length = 0
  readonly #mostKept: number

  /** @param mostKept The largest memory that is kept for the next use. */
  constructor(mostKept: number) {
    this.#mostKept = mostKept
  }

  append(bytes: Buffer, start: number, end: number): void {
    const length = this.length + end - start
    if (length > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, this.bytes.length * 2, FIRST_BYTES))
      this.bytes.copy(grown, 0, 0, this.length)
      this.bytes = grown
    }
    bytes.copy(this.bytes, this.length, start, end)
    this.length = length
  }

  clear(): void {
    this.length = 0
    if (this.bytes.length > this.#mostKept) this.bytes = NO_BYTES
  }
}
