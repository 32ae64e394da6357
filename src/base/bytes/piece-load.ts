/**
 * What the small pieces in a stream's buffer cost beside their bytes. A stream of the runtime counts bytes
 * only, and would take tens of thousands of single ones before it asks for a pause, each in an object of its
 * own.
 */

/** What a piece takes in memory at the least: the chunk, its view, its place in a list. */
const PIECE_COST = 256

/** As much as a stream holds in bytes. */
const MAX_COST = 65_536

export class PieceLoad {
  #cost = 0

  /** A chunk is about to be put to `buffered` bytes. */
  add(chunk: unknown, buffered: number): void {
    if (buffered === 0) this.#cost = 0
    const { length } = chunk as { readonly length: number }
    if (length < PIECE_COST) this.#cost += PIECE_COST - length
  }

  /** So many pieces are among the `buffered` bytes that the source has to wait until some are taken. */
  isHeavy(buffered: number): boolean {
    return this.#cost >= MAX_COST && buffered > 0
  }
}
