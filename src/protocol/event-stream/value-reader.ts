/**
 * Decodes values of a chunk from UTF-8. A call into the runtime costs more than decoding a short value does, so short
 * values that are ASCII are cut out of a longer piece that was decoded at once. The piece is small, because a string
 * that is cut out keeps it in memory.
 */
import { isAscii } from 'node:buffer'
import { NO_BYTES } from '../../base/empty.ts'

/** Longer values are decoded on their own. */
const SHORT = 128
const PIECE = 1024

export class ValueReader {
  #bytes: Buffer = NO_BYTES
  #isAscii = false
  #piece = ''
  #pieceStart = 0
  #pieceEnd = 0

  /** Values are read from these bytes from now on. */
  open(bytes: Buffer): void {
    this.#bytes = bytes
    this.#isAscii = isAscii(bytes)
    this.#pieceEnd = 0
  }

  /** Drops the bytes. */
  close(): void {
    this.#bytes = NO_BYTES
    this.#piece = ''
    this.#pieceEnd = 0
  }

  read(start: number, end: number): string {
    const bytes = this.#bytes
    if (end - start > SHORT || !this.#isAscii) return bytes.toString('utf8', start, end)
    if (end > this.#pieceEnd) {
      this.#pieceStart = start
      this.#pieceEnd = Math.min(start + PIECE, bytes.length)
      this.#piece = bytes.toString('latin1', start, this.#pieceEnd)
    }
    return this.#piece.slice(start - this.#pieceStart, end - this.#pieceStart)
  }
}
