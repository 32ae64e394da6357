/**
 * Finds the end of a zstd frame: a body may have several, some of them skippable, and the decoders of some
 * runtimes stop after the first, or accept the end of their input as its end. Follows the lengths in the
 * frame (RFC 8878 §3.1), and decodes nothing.
 */

/** The magic number and the byte after it. */
const START = 5
const MAGIC = 0xfd2fb528
/** There are sixteen kinds of skippable frames, which the low half of the first byte tells apart. */
const SKIPPABLE_MAGIC = 0x184d2a50
/** The rest of the length of a skippable frame, after its first byte. */
const SKIPPED_LENGTH = 3
const BLOCK_HEADER = 3
const CHECKSUM = 4

const DICTIONARY_ID_SIZES = [0, 1, 2, 4]
const CONTENT_SIZE_SIZES = [0, 2, 4, 8]
/** The longest field is a frame header with a window, a dictionary and a size. */
const MAX_FIELD = 13

const RAW_BLOCK = 0
const RLE_BLOCK = 1

/**
 * `unknown`: not enough of it has been read. `empty`: its only block has no bytes. `invalid`: the decoder
 * reports the error.
 */
export type FrameKind = 'unknown' | 'coded' | 'empty' | 'skippable' | 'invalid'

/** Follows one frame. The runtime's decoder checks everything but the end. */
export class ZstdFrame {
  kind: FrameKind = 'unknown'
  isComplete = false
  /** Nothing of it has been read. */
  isUntouched = true
  #parts!: Generator<number, void, void>
  /** The part that is being read, unless it is the content of a block. */
  readonly #field = Buffer.alloc(MAX_FIELD)
  #length = 0
  #count = 0

  constructor() {
    this.restart()
  }

  /** For the frame that follows. */
  restart(): void {
    this.kind = 'unknown'
    this.isUntouched = true
    this.#parts = this.#follow()
    this.#next()
  }

  /** Returns how many of the bytes from there on belong to it. */
  read(bytes: Uint8Array, from = 0): number {
    let at = from
    while (at < bytes.length && !this.isComplete) {
      if (this.kind === 'invalid') return bytes.length - from
      const end = Math.min(at + this.#length - this.#count, bytes.length)
      if (this.#length <= MAX_FIELD) this.#field.set(bytes.subarray(at, end), this.#count)
      this.isUntouched = false
      this.#count += end - at
      at = end
      while (this.#count === this.#length && this.#next());
    }
    return at - from
  }

  /** Begins the next part; false if there is none. */
  #next(): boolean {
    const { done = false, value } = this.#parts.next()
    this.isComplete = done && this.kind !== 'invalid'
    this.#length = value ?? 0
    this.#count = 0
    return !done
  }

  /** Yields the length of each part, and goes on when the part has been read. */
  *#follow(): Generator<number, void, void> {
    const field = this.#field
    yield START
    const magic = field.readUInt32LE()
    const following = field[4]!
    if ((magic & ~0xf) === SKIPPABLE_MAGIC) {
      this.kind = 'skippable'
      yield SKIPPED_LENGTH
      yield following + field.readUIntLE(0, SKIPPED_LENGTH) * 256
      return
    }
    if (magic !== MAGIC) {
      this.kind = 'invalid'
      return
    }
    const mayBeEmpty = yield* this.#readHeader(following)
    for (let isLast = false; !isLast; ) {
      yield BLOCK_HEADER
      const header = field.readUIntLE(0, BLOCK_HEADER)
      const type = (header >>> 1) & 3
      // The size of an RLE block is that of its decoded bytes.
      const length = type === RLE_BLOCK ? 1 : header >>> 3
      isLast = (header & 1) === 1
      if (this.kind === 'unknown') {
        this.kind = isLast && type === RAW_BLOCK && length === 0 && mayBeEmpty ? 'empty' : 'coded'
      }
      yield length
    }
    if ((following & 4) !== 0) yield CHECKSUM
  }

  /** Returns whether a frame with this header may have no content. */
  *#readHeader(descriptor: number): Generator<number, boolean, void> {
    const isSingleSegment = (descriptor & 0x20) !== 0
    const contentSize = descriptor >>> 6
    const window = isSingleSegment ? 0 : 1
    const content = contentSize === 0 && isSingleSegment ? 1 : CONTENT_SIZE_SIZES[contentSize]!
    const dictionary = DICTIONARY_ID_SIZES[descriptor & 3]!
    const length = window + dictionary + content
    yield length
    const size = this.#field.subarray(window + dictionary, length)
    // The least size of two bytes is 256. A decoder refuses a frame whose dictionary it does not have.
    return dictionary === 0 && content !== 2 && size.every((byte) => byte === 0)
  }
}
