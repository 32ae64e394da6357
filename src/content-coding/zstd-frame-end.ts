/**
 * Notices a zstd frame that ends too early, for runtimes whose decoder takes the end of its input for the end of the
 * frame (Node 22). Follows the lengths in the frame (RFC 8878 §3.1.1), and decodes nothing.
 */
import { Transform } from 'node:stream'

/** Magic number and frame header descriptor. */
const START = 5
/** The second half of the magic number. */
const MAGIC_END = 0xfd2f
const BLOCK_HEADER = 3
const CHECKSUM = 4

const DICTIONARY_ID_SIZES = [0, 1, 2, 4]
const CONTENT_SIZE_SIZES = [0, 2, 4, 8]

const RLE_BLOCK = 1

/** The part of the frame that is being read. */
type Part = 'start' | 'header' | 'block header' | 'block' | 'last block' | 'checksum' | 'end'

/** Follows the first frame of a body. The runtime's decoder checks everything but the end. */
export class ZstdFrame {
  #part: Part = 'start'
  /** Bytes of this part that are still missing. */
  #missing = START
  /** The last three bytes, little-endian. */
  #word = 0
  #hasChecksum = false

  get isComplete(): boolean {
    return this.#part === 'end'
  }

  read(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length && !this.isComplete) {
      const end = Math.min(at + this.#missing, bytes.length)
      this.#missing -= end - at
      if (this.#part === 'start' || this.#part === 'block header') {
        for (; at < end; at++) this.#word = (this.#word >>> 8) | (bytes[at]! << 16)
      }
      at = end
      while (this.#missing === 0 && !this.isComplete) this.#next()
    }
  }

  #next(): void {
    switch (this.#part) {
      case 'start':
        if ((this.#word & 0xffff) === MAGIC_END) this.#readDescriptor(this.#word >>> 16)
        else this.#part = 'end' // A skippable frame, or an error for the decoder.
        return
      case 'header':
      case 'block':
        this.#expect('block header', BLOCK_HEADER)
        return
      case 'block header': {
        const type = (this.#word >>> 1) & 3
        // The size of an RLE block is that of its decoded bytes.
        const length = type === RLE_BLOCK ? 1 : this.#word >>> 3
        this.#expect((this.#word & 1) === 1 ? 'last block' : 'block', length)
        return
      }
      case 'last block':
        this.#expect('checksum', this.#hasChecksum ? CHECKSUM : 0)
        return
      default:
        this.#part = 'end'
    }
  }

  #readDescriptor(descriptor: number): void {
    const isSingleSegment = (descriptor & 0x20) !== 0
    const contentSize = descriptor >>> 6
    this.#hasChecksum = (descriptor & 4) !== 0
    const window = isSingleSegment ? 0 : 1
    const content = contentSize === 0 && isSingleSegment ? 1 : CONTENT_SIZE_SIZES[contentSize]!
    this.#expect('header', window + DICTIONARY_ID_SIZES[descriptor & 3]! + content)
  }

  #expect(part: Part, length: number): void {
    this.#part = part
    this.#missing = length
  }
}

/** Passes everything on, and fails as a decoder does if the frame is not complete. An empty body is complete. */
export class ZstdEndCheck extends Transform {
  readonly #frame = new ZstdFrame()
  #isEmpty = true

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    callback: (error: Error | null, chunk: Buffer) => void,
  ): void {
    if (chunk.length > 0) this.#isEmpty = false
    this.#frame.read(chunk)
    callback(null, chunk)
  }

  override _flush(callback: (error?: Error) => void): void {
    if (this.#isEmpty || this.#frame.isComplete) callback()
    else callback(Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR', errno: -5 }))
  }
}
