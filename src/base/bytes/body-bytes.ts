/**
 * The bytes of a body that nobody has taken yet, in order. Large chunks are kept as they arrived, many small
 * ones are joined: a peer that sends single bytes makes us keep those bytes, not an object for each, which
 * would take more than two hundred times as much. Does not know where chunks come from or who wants them.
 */
import { Buffer } from 'node:buffer'
import { returnMemory, takeMemory } from './collection-memory.ts'
import { holdBytes, MAX_SHARED, roomBehind, shareBytes, slab } from './held-bytes.ts'
import { fillFrom, ownBytes, utf8Of } from './own-bytes.ts'

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

/**
 * Chunks are handed out together up to this size: separate memory for a small one takes longer than to copy
 * it.
 */
const JOINED_BYTES = 16_384

/** A first piece of less than this part of its body does not say that all of it will be collected. */
const PRESIZE_SHARE = 4

/** This many chunks are kept as they are: a body of a few pieces needs no memory beside theirs. */
const LOOSE_CHUNKS = 8

/** Small chunks are joined in blocks as large as what is held already, within these bounds. */
const LEAST_BLOCK = MAX_SHARED
const LARGEST_BLOCK = 65_536

/**
 * What the memory at the end is for:
 *
 * - `whole`: all bytes of the body
 * - `borrowed`: the same, in memory that serves another body later unless a caller got it
 * - `shared`: these bytes, beside those of other bodies, and the next small ones until another body follows
 * - `joined`: the next small chunks
 */
type Purpose = 'whole' | 'borrowed' | 'shared' | 'joined'

/** Chunks in order; once their total is announced they are copied into one piece as they come. */
export class BodyBytes {
  readonly #chunks: Buffer[]
  /** Memory with the last bytes, after those in the chunks, as one piece that may grow. */
  #target: Buffer | null = null
  #purpose: Purpose = 'whole'
  /** Where that piece begins there; 0 without such memory. */
  #from = 0
  /** Where it ends. */
  #end = 0
  /** In bytes. */
  size: number

  /** @param chunks Belong to this object from now on. */
  constructor(chunks: Buffer[], size: number) {
    this.#chunks = chunks
    this.size = size
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
    bytes.#beginShared(memory, start, end)
    return bytes
  }

  #beginShared(memory: Buffer, start: number, end: number): void {
    this.#from = shareBytes(memory, start, end)
    this.#end = this.#from + end - start
    this.#target = slab
    this.#purpose = 'shared'
  }

  static none(): BodyBytes {
    return new BodyBytes([], 0)
  }

  /** The same chunks in a separate list. */
  clone(): BodyBytes {
    this.#split()
    return new BodyBytes([...this.#chunks], this.size)
  }

  /** As they arrived, or joined; to be read only. */
  get chunks(): readonly Buffer[] {
    this.#split()
    return this.#chunks
  }

  add(chunk: Buffer): void {
    if (!this.#copied(chunk, 0, chunk.length)) this.#chunks.push(chunk)
  }

  /** Adds a copy of bytes that are lent. */
  addLent(memory: Buffer, start: number, end: number): void {
    if (this.#copied(memory, start, end)) return
    if (this.#target === null && end - start <= MAX_SHARED) this.#beginShared(memory, start, end)
    else this.#chunks.push(holdBytes(memory, start, end))
  }

  /** Counts the bytes, and copies them if there is room at the end. */
  #copied(memory: Buffer, start: number, end: number): boolean {
    const hasRoom = this.#hasRoom(end - start)
    this.size += end - start
    if (!hasRoom) return false
    if (this.#purpose === 'shared') shareBytes(memory, start, end)
    else fillFrom(this.#target!, this.#end, memory, start, end)
    this.#end += end - start
    return true
  }

  /** How many bytes the piece at the end may still grow by. */
  get #room(): number {
    const target = this.#target!
    return this.#purpose === 'shared' ? roomBehind(target, this.#end) : target.length - this.#end
  }

  /** Whether the next chunk is copied to the end of the memory; otherwise it is put after the chunks. */
  #hasRoom(length: number): boolean {
    const isSmall = length <= MAX_SHARED
    if (this.#target !== null) {
      const takes = isSmall || (this.#purpose !== 'joined' && this.#purpose !== 'shared')
      if (takes && length <= this.#room) return true
      // More than announced if there is memory for all: the dispatcher did not enforce the length, so go on
      // without it.
      this.#split()
      if (!isSmall) return false
    }
    if (!isSmall || this.#chunks.length < LOOSE_CHUNKS) return false
    this.#target = Buffer.allocUnsafeSlow(Math.min(Math.max(this.size, LEAST_BLOCK), LARGEST_BLOCK))
    this.#purpose = 'joined'
    this.#from = 0
    this.#end = 0
    return true
  }

  /** Takes the first chunk out, to be read only; undefined if there is none. */
  shift(): Buffer | undefined {
    this.#split()
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) this.#taken(chunk.length)
    return chunk
  }

  /** Takes the first chunk in memory that belongs to the caller; undefined if there is none. */
  shiftOwn(): Buffer | undefined {
    const chunk = this.shift()
    return chunk === undefined ? undefined : ownBytes(chunk, 0, chunk.length)
  }

  /**
   * Takes the first chunk, or the first few small ones, in memory that belongs to the caller; undefined if
   * there is none.
   */
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
    this.#taken(size)
    return count === 1 ? ownBytes(first, 0, size) : join(taken, size)
  }

  #taken(size: number): void {
    this.size -= size
    // A body that is read as it arrives keeps no memory for what may come.
    if (this.size === 0) this.#target = null
  }

  unshift(chunk: Buffer): void {
    this.#split()
    this.#chunks.unshift(chunk)
    this.size += chunk.length
  }

  /** Takes this many bytes from the front. */
  drop(count: number): void {
    for (let left = count; left > 0; ) {
      const chunk = this.shift()
      if (chunk === undefined) return
      if (chunk.length > left) this.unshift(chunk.subarray(left))
      left -= chunk.length
    }
  }

  /** The bytes at the end become a chunk. What is left of memory for small ones takes those that follow. */
  #split(): void {
    const target = this.#target
    if (target === null) return
    if (this.#end > this.#from) this.#chunks.push(target.subarray(this.#from, this.#end))
    this.#from = this.#end
    // Full, its chunk may become a caller's.
    if (this.#purpose === 'joined' && this.#room > 0) return
    this.#target = null
    this.#purpose = 'whole'
  }

  /** Whether all bytes are one piece of memory. */
  get #isWhole(): boolean {
    return this.#target !== null && this.#chunks.length === 0
  }

  /**
   * Announces the total; memory is taken for it unless it is too much to take on trust. `isShared`: it may
   * have served an earlier body, and serves a later one if {@link release} follows.
   */
  expect(length: number, isShared: boolean): void {
    if (this.#isWhole && (this.#purpose !== 'shared' || length === this.size)) return
    if (length < this.size || length === 0 || length > PRESIZE_LIMIT) return
    this.#split()
    const target = isShared ? takeMemory(length) : Buffer.allocUnsafeSlow(length)
    copyAll(this.#chunks, target)
    this.#chunks.length = 0
    this.#target = target
    this.#purpose = isShared ? 'borrowed' : 'whole'
    this.#from = 0
    this.#end = this.size
  }

  /** The bytes were read, and nothing refers to their memory. */
  release(): void {
    if (this.#target === null || this.#purpose !== 'borrowed') return
    returnMemory(this.#target)
    this.#target = null
  }

  /** All bytes, to be read only: may share memory with others. */
  view(): Buffer {
    if (this.#isWhole) return this.#target!.subarray(this.#from, this.#end)
    this.#split()
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.size)
  }

  /** All bytes as UTF-8, without the mark of its byte order. */
  text(): string {
    const isWhole = this.#isWhole
    const bytes = isWhole ? this.#target! : this.view()
    const start = isWhole ? this.#from : 0
    const isMarked =
      this.size >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf
    return utf8Of(bytes, isMarked ? start + 3 : start, start + this.size)
  }

  /** All bytes, in memory that belongs to the caller and holds nothing else. */
  own(): Uint8Array<ArrayBuffer> {
    const target = this.#target
    const isWhole = this.#isWhole
    if (isWhole && target!.length === this.size) {
      // allocUnsafeSlow never takes from a pool: this ArrayBuffer has exactly this size.
      this.#purpose = 'whole'
      return new Uint8Array(target!.buffer as ArrayBuffer)
    }
    const bytes = new Uint8Array(this.size)
    if (isWhole) {
      bytes.set(target!.subarray(this.#from, this.#end))
      return bytes
    }
    this.#split()
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
