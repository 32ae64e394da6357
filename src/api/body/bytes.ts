/** The bytes of a body in chunks as they arrived. Does not know where chunks come from or who wants them. */

import { holdBytes, MAX_SHARED, shareBytes, slab } from '../../base/held-bytes.ts'
import { ownBytes, utf8Of } from '../../base/own-bytes.ts'
import { returnMemory, takeMemory } from './collection-memory.ts'

/**
 * Largest announced length for which memory is taken in advance. A `content-length` is only a claim: a peer
 * that announces gigabytes and sends nothing must not make us reserve them.
 */
const PRESIZE_LIMIT = 1_048_576

/** The memory of what a stream accepts as a chunk; null for anything else. */
export function bytesOf(chunk: unknown, encoding: BufferEncoding | undefined): Buffer | null {
  if (typeof chunk === 'string') return Buffer.from(chunk, encoding)
  if (!(chunk instanceof Uint8Array)) return null
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

/** Chunks are handed out together up to this size: separate memory for a small one takes longer than to copy it. */
const JOINED_BYTES = 16_384

/** A first piece of less than this part of its body does not say that all of it will be collected. */
const PRESIZE_SHARE = 4

/** Chunks in order; once their total is announced they are copied into one piece as they come. */
export class BodyBytes {
  readonly #chunks: Buffer[]
  /** Memory in which all of them are one piece. */
  #target: Buffer | null = null
  /** Where they begin there; 0 without such memory. */
  #from = 0
  /** Where the part of `#target` ends that is theirs. */
  #limit = 0
  /** The memory for all of them goes back when it was read, unless it was given away. */
  #isBorrowed = false
  #size: number

  /** @param chunks Belong to this object from now on. */
  constructor(chunks: Buffer[], size: number) {
    this.#chunks = chunks
    this.#size = size
  }

  /** Most bodies are one chunk: an array made for it is smaller than one that grew. */
  static of(chunk: Buffer): BodyBytes {
    return new BodyBytes([chunk], chunk.length)
  }

  /** The first piece of a body that announced its length, or 0. */
  static begin(memory: Buffer, start: number, end: number, announced: number): BodyBytes {
    const size = end - start
    const isWhole = size >= announced
    if (isWhole && size <= MAX_SHARED) return BodyBytes.#share(memory, start, end)
    if (isWhole || size * PRESIZE_SHARE < announced || announced > PRESIZE_LIMIT) {
      return BodyBytes.of(holdBytes(memory, start, end))
    }
    const bytes = BodyBytes.none()
    bytes.expect(announced, true)
    bytes.addLent(memory, start, end)
    return bytes
  }

  /** Without a Buffer of its own: most small bodies are read as text, which needs none. */
  static #share(memory: Buffer, start: number, end: number): BodyBytes {
    const bytes = new BodyBytes([], end - start)
    bytes.#from = shareBytes(memory, start, end)
    bytes.#limit = bytes.#from + bytes.#size
    bytes.#target = slab
    return bytes
  }

  static none(): BodyBytes {
    return new BodyBytes([], 0)
  }

  /** The same chunks in a separate list. */
  clone(): BodyBytes {
    this.#split()
    return new BodyBytes([...this.#chunks], this.#size)
  }

  /** Where the next one goes in memory for all of them. */
  get #end(): number {
    return this.#from + this.#size
  }

  /** In bytes. */
  get size(): number {
    return this.#size
  }

  /** Roughly as they arrived, to be read only. */
  get chunks(): readonly Buffer[] {
    this.#split()
    return this.#chunks
  }

  add(chunk: Buffer): void {
    const target = this.#target
    if (target !== null && this.#end + chunk.length <= this.#limit) {
      target.set(chunk, this.#end)
    } else {
      // More than announced if there is memory for all: the dispatcher did not enforce the length, so go on without it.
      this.#split()
      this.#chunks.push(chunk)
    }
    this.#size += chunk.length
  }

  /** Adds a copy of bytes that are lent. */
  addLent(memory: Buffer, start: number, end: number): void {
    const target = this.#target
    if (target !== null && this.#end + end - start <= this.#limit) {
      memory.copy(target, this.#end, start, end)
      this.#size += end - start
    } else {
      this.add(holdBytes(memory, start, end))
    }
  }

  /** Takes the first chunk out, to be read only; undefined if there is none. */
  shift(): Buffer | undefined {
    this.#split()
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) this.#size -= chunk.length
    return chunk
  }

  /** Takes the first chunk, or the first few small ones, in memory that belongs to the caller; undefined if there is none. */
  takeOwn(): Buffer | undefined {
    this.#split()
    const chunks = this.#chunks
    const first = chunks[0]
    if (first === undefined) return undefined
    let size = first.length
    let count = 1
    while (count < chunks.length && size + chunks[count]!.length <= JOINED_BYTES)
      size += chunks[count++]!.length
    const taken = chunks.splice(0, count)
    this.#size -= size
    return count === 1 ? ownBytes(first, 0, size) : join(taken, size)
  }

  /** Puts a chunk before the others. */
  unshift(chunk: Buffer): void {
    this.#split()
    this.#chunks.unshift(chunk)
    this.#size += chunk.length
  }

  /** Takes so many bytes from the front. */
  drop(count: number): void {
    for (let left = count; left > 0; ) {
      const chunk = this.shift()
      if (chunk === undefined) return
      if (chunk.length > left) this.unshift(chunk.subarray(left))
      left -= chunk.length
    }
  }

  /** Bytes in memory for all of them become a chunk: they are taken one by one after all. */
  #split(): void {
    if (this.#target === null) return
    this.#chunks.push(this.#target.subarray(this.#from, this.#end))
    this.#target = null
    this.#from = 0
  }

  /**
   * Announces the total; memory is taken for it unless it is too much to take on trust. `isShared`: it may have served an
   * earlier body, and serves a later one if {@link release} follows.
   */
  expect(length: number, isShared: boolean): void {
    if (this.#target !== null || length < this.#size || length === 0 || length > PRESIZE_LIMIT) return
    const target = isShared ? takeMemory(length) : Buffer.allocUnsafeSlow(length)
    this.#isBorrowed = isShared
    copyAll(this.#chunks, target)
    this.#chunks.length = 0
    this.#target = target
    this.#limit = target.length
  }

  /** The bytes were read, and nothing refers to their memory. */
  release(): void {
    if (this.#target === null || !this.#isBorrowed) return
    returnMemory(this.#target)
    this.#target = null
  }

  /** All bytes, to be read only: may share memory with others. */
  view(): Buffer {
    if (this.#target !== null) return this.#target.subarray(this.#from, this.#end)
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#size)
  }

  /** All bytes as UTF-8, without the mark of its byte order. */
  text(): string {
    const bytes = this.#target ?? this.view()
    const start = this.#from
    const isMarked =
      this.#size >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf
    return utf8Of(bytes, isMarked ? start + 3 : start, this.#end)
  }

  /** All bytes, in memory that belongs to the caller and holds nothing else. */
  own(): Uint8Array<ArrayBuffer> {
    const target = this.#target
    if (target !== null && target.length === this.#size) {
      // allocUnsafeSlow never takes from a pool: this ArrayBuffer has exactly this size.
      this.#isBorrowed = false
      return new Uint8Array(target.buffer as ArrayBuffer)
    }
    const bytes = new Uint8Array(this.#size)
    if (target !== null) {
      bytes.set(target.subarray(this.#from, this.#end))
      return bytes
    }
    copyAll(this.#chunks, bytes)
    return bytes
  }
}

/** Buffer.concat would take memory from a pool. */
function join(chunks: readonly Buffer[], size: number): Buffer {
  const joined = Buffer.allocUnsafeSlow(size)
  copyAll(chunks, joined)
  return joined
}

function copyAll(chunks: readonly Buffer[], target: Uint8Array): void {
  let offset = 0
  for (const chunk of chunks) {
    target.set(chunk, offset)
    offset += chunk.length
  }
}
