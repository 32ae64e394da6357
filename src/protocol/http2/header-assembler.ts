/**
 * Joins HEADERS and CONTINUATION into one header block (RFC 9113 §4.3) and stops one that has no end
 * (CONTINUATION flood, see `limits.ts`). A block that lies in one frame is never copied. Does not decode.
 */
import { COMPRESSED_BYTES_PER_LISTED, MAX_HEADER_FRAMES, MIN_COMPRESSED_BLOCK_CEILING } from './limits.ts'

export class HeaderAssembler {
  readonly #maxBytes: number
  #fragments: Buffer[] = []
  #frames = 0
  #bytes = 0
  /** END_STREAM stands on the HEADERS frame and holds for the block. */
  endStream = false

  constructor(maxListSize: number) {
    this.#maxBytes = Math.max(MIN_COMPRESSED_BLOCK_CEILING, COMPRESSED_BYTES_PER_LISTED * maxListSize)
  }

  /** The first fragment of a block that goes on in CONTINUATION frames. */
  begin(endStream: boolean, buf: Buffer, start: number, end: number): void {
    this.endStream = endStream
    this.#fragments = []
    this.#frames = 0
    this.#bytes = 0
    this.add(buf, start, end)
  }

  /** Keeps a copy of a fragment. The reason when the block has grown beyond its limits, else null. */
  add(buf: Buffer, start: number, end: number): string | null {
    this.#frames++
    this.#bytes += end - start
    if (this.#frames > MAX_HEADER_FRAMES) return `header block of more than ${MAX_HEADER_FRAMES} frames`
    if (this.#bytes > this.#maxBytes) return `header block of more than ${this.#maxBytes} bytes`
    if (end > start) this.#fragments.push(Buffer.from(buf.subarray(start, end)))
    return null
  }

  /** The block, which is then forgotten here. */
  finish(): Buffer {
    const block = Buffer.concat(this.#fragments, this.#bytes)
    this.#fragments = []
    return block
  }
}
