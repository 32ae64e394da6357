/**
 * Joins HEADERS and CONTINUATION into one header block (RFC 9113 §4.3) and stops one that has no end
 * (CONTINUATION flood, see `limits.ts`). A block that lies in one frame is never copied. Does not decode.
 */
import { CarriedBytes } from '../carried-bytes.ts'
import { COMPRESSED_BYTES_PER_LISTED, MAX_HEADER_FRAMES, MIN_COMPRESSED_BLOCK_CEILING } from './limits.ts'

export class HeaderAssembler {
  readonly #maxBytes: number
  readonly #block = new CarriedBytes(0)
  #frames = 0
  /** END_STREAM stands on the HEADERS frame and holds for the block. */
  endStream = false

  constructor(maxListSize: number) {
    this.#maxBytes = Math.max(MIN_COMPRESSED_BLOCK_CEILING, COMPRESSED_BYTES_PER_LISTED * maxListSize)
  }

  /** The first fragment of a block that goes on in CONTINUATION frames. */
  begin(endStream: boolean, buf: Buffer, start: number, end: number): void {
    this.endStream = endStream
    this.#frames = 0
    this.add(buf, start, end)
  }

  /** Keeps a copy of a fragment. The reason when the block has grown beyond its limits, else null. */
  add(buf: Buffer, start: number, end: number): string | null {
    this.#frames++
    if (this.#frames > MAX_HEADER_FRAMES) return `header block of more than ${MAX_HEADER_FRAMES} frames`
    this.#block.append(buf, start, end)
    return this.#block.length > this.#maxBytes ? `header block of more than ${this.#maxBytes} bytes` : null
  }

  /** The block, which is then forgotten here. */
  finish(): Buffer {
    const block = this.#block.bytes.subarray(0, this.#block.length)
    this.#block.clear()
    return block
  }
}
