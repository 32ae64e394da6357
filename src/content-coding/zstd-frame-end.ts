/**
 * Finds the end of a zstd frame: a body may have several, also such that are to be skipped, and the decoders
 * of some runtimes stop after the first, or take the end of their input for its end. Follows the lengths in
 * the frame (RFC 8878 §3.1), and decodes nothing.
 */

/** Half of the magic number. */
const MAGIC_START = 2
/** The other half, and the frame header descriptor. */
const START = 3
/** Both halves, little-endian. */
const MAGIC = [0xb528, 0xfd2f] as const
/** The same of a skippable frame, of which there are sixteen kinds. */
const SKIPPABLE_MAGIC = [0x2a50, 0x184d] as const
const ANY_KIND = 0xfff0
/** What is left of the length of a skippable frame after its first byte. */
const SKIPPED_LENGTH = 3
const BLOCK_HEADER = 3
const CHECKSUM = 4

const DICTIONARY_ID_SIZES = [0, 1, 2, 4]
const CONTENT_SIZE_SIZES = [0, 2, 4, 8]

const RAW_BLOCK = 0
const RLE_BLOCK = 1

/** The part of the frame that is being read. */
type Part =
  | 'magic start'
  | 'start'
  | 'skipped length'
  | 'skipped'
  | 'header'
  | 'block header'
  | 'block'
  | 'last block'
  | 'checksum'
  | 'end'

/** The parts that are read as a number. */
const NUMBERS: ReadonlySet<Part> = new Set(['magic start', 'start', 'block header', 'skipped length'])

/**
 * `unknown`: its beginning is not there yet. `empty`: its only block has no bytes. `invalid`: the decoder has
 * an error for it.
 */
export type FrameKind = 'unknown' | 'coded' | 'empty' | 'skippable' | 'invalid'

/** Follows one frame. The runtime's decoder checks everything but the end. */
export class ZstdFrame {
  #part: Part = 'magic start'
  /** Bytes of this part that are still missing. */
  #missing = MAGIC_START
  /** The last three bytes, little-endian. */
  #word = 0
  #magicStart = 0
  #hasChecksum = false
  /** Bytes of the field at the end of the header that has the size of the content. */
  #sizeField = 0
  /** The frame does not say that it has content. */
  #mayBeEmpty = false
  /** The first byte of the length of a skippable frame. */
  #lowest = 0
  kind: FrameKind = 'unknown'

  /** Nothing of it has been read. */
  get isUntouched(): boolean {
    return this.#part === 'magic start' && this.#missing === MAGIC_START
  }

  get isComplete(): boolean {
    return this.#part === 'end'
  }

  /** For the frame that follows. */
  restart(): void {
    this.kind = 'unknown'
    this.#expect('magic start', MAGIC_START)
  }

  /** Returns how many of the bytes from there on belong to it. */
  read(bytes: Uint8Array, from = 0): number {
    let at = from
    while (at < bytes.length && !this.isComplete) {
      if (this.kind === 'invalid') return bytes.length - from
      const end = Math.min(at + this.#missing, bytes.length)
      this.#missing -= end - at
      if (NUMBERS.has(this.#part)) {
        for (; at < end; at++) this.#word = (this.#word >>> 8) | (bytes[at]! << 16)
      } else if (this.#part === 'header') this.#readSize(bytes, at, end)
      at = end
      while (this.#missing === 0 && this.#isOpen) this.#next()
    }
    return at - from
  }

  get #isOpen(): boolean {
    return this.#part !== 'end' && this.kind !== 'invalid'
  }

  #next(): void {
    switch (this.#part) {
      case 'magic start':
        this.#magicStart = this.#word >>> 8
        this.#expect('start', START)
        return
      case 'start':
        this.#begin(this.#word & 0xffff, this.#word >>> 16)
        return
      case 'skipped length':
        this.#expect('skipped', this.#lowest + this.#word * 256)
        return
      case 'header':
      case 'block':
        this.#expect('block header', BLOCK_HEADER)
        return
      case 'block header': {
        const type = (this.#word >>> 1) & 3
        // The size of an RLE block is that of its decoded bytes.
        const length = type === RLE_BLOCK ? 1 : this.#word >>> 3
        const isLast = (this.#word & 1) === 1
        if (this.kind === 'unknown') {
          const isEmpty = isLast && type === RAW_BLOCK && length === 0 && this.#mayBeEmpty
          this.kind = isEmpty ? 'empty' : 'coded'
        }
        this.#expect(isLast ? 'last block' : 'block', length)
        return
      }
      case 'last block':
        this.#expect('checksum', this.#hasChecksum ? CHECKSUM : 0)
        return
      default:
        this.#part = 'end'
    }
  }

  #begin(magicEnd: number, following: number): void {
    const magicStart = this.#magicStart
    if (magicStart === MAGIC[0] && magicEnd === MAGIC[1]) this.#readDescriptor(following)
    else if ((magicStart & ANY_KIND) === SKIPPABLE_MAGIC[0] && magicEnd === SKIPPABLE_MAGIC[1]) {
      this.kind = 'skippable'
      this.#lowest = following
      this.#word = 0
      this.#expect('skipped length', SKIPPED_LENGTH)
    } else this.kind = 'invalid'
  }

  #readDescriptor(descriptor: number): void {
    const isSingleSegment = (descriptor & 0x20) !== 0
    const contentSize = descriptor >>> 6
    this.#hasChecksum = (descriptor & 4) !== 0
    const window = isSingleSegment ? 0 : 1
    const content = contentSize === 0 && isSingleSegment ? 1 : CONTENT_SIZE_SIZES[contentSize]!
    const dictionary = DICTIONARY_ID_SIZES[descriptor & 3]!
    this.#sizeField = content
    // The least size of two bytes is 256. A decoder refuses a frame whose dictionary it does not have.
    this.#mayBeEmpty = dictionary === 0 && content !== 2
    this.#expect('header', window + dictionary + content)
  }

  /** These bytes of the header are followed by as many as are missing. */
  #readSize(bytes: Uint8Array, from: number, end: number): void {
    const start = Math.max(from, end + this.#missing - this.#sizeField)
    for (let at = start; at < end; at++) if (bytes[at] !== 0) this.#mayBeEmpty = false
  }

  #expect(part: Part, length: number): void {
    this.#part = part
    this.#missing = length
  }
}
