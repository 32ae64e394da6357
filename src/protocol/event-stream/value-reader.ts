/**
 * Searches a chunk for bytes, and decodes values of it from UTF-8. A call into the runtime costs more than
 * its work on a short line does, so the chunk is decoded in pieces: lines end in them, and values that are
 * ASCII are cut out of them. The pieces are small, because a string that is cut out of one keeps it in
 * memory.
 */
import { isAscii } from 'node:buffer'
import { NO_BYTES } from '../../base/bytes/empty.ts'

const PIECE = 1024

export class ValueReader {
  #bytes: Buffer = NO_BYTES
  #isAscii = false
  /** A character for each byte, whatever the bytes mean. */
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

  /**
   * Where the character, which must be ASCII, is first from `start` on; the end of the bytes if it is not
   * there.
   */
  find(character: string, start: number): number {
    if (start >= this.#pieceEnd) this.#cut(start)
    const place = this.#piece.indexOf(character, start - this.#pieceStart)
    if (place !== -1) return this.#pieceStart + place
    const end = this.#bytes.length
    if (this.#pieceEnd === end) return end
    const at = this.#bytes.indexOf(character.charCodeAt(0), this.#pieceEnd)
    return at === -1 ? end : at
  }

  read(start: number, end: number): string {
    if (!this.#isAscii || end - start > PIECE) return this.#bytes.toString('utf8', start, end)
    if (end > this.#pieceEnd) this.#cut(start)
    return this.#piece.slice(start - this.#pieceStart, end - this.#pieceStart)
  }

  #cut(start: number): void {
    this.#pieceStart = start
    this.#pieceEnd = Math.min(start + PIECE, this.#bytes.length)
    this.#piece = this.#bytes.toString('latin1', start, this.#pieceEnd)
  }
}
