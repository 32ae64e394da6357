/** The bytes of a body in chunks as they arrived. Does not know where chunks come from or who wants them. */

import { holdBytes } from '../../base/held-bytes.ts'
import { ownBytes } from '../../base/own-bytes.ts'
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
  #target: Buffer | null = null
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
    if (size >= announced || size * PRESIZE_SHARE < announced || announced > PRESIZE_LIMIT) {
      return BodyBytes.of(holdBytes(memory, start, end))
    }
    const bytes = BodyBytes.none()
    bytes.expect(announced, true)
    bytes.addLent(memory, start, end)
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
    if (target === null) {
      this.#chunks.push(chunk)
    } else if (this.#size + chunk.length <= target.length) {
      target.set(chunk, this.#size)
    } else {
      // More than announced: the dispatcher did not enforce the length, so go on without it.
      this.#chunks.push(target.subarray(0, this.#size), chunk)
      this.#target = null
    }
    this.#size += chunk.length
  }

  /** Adds a copy of bytes that are lent. */
  addLent(memory: Buffer, start: number, end: number): void {
    const target = this.#target
    if (target !== null && this.#size + end - start <= target.length) {
      memory.copy(target, this.#size, start, end)
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
    this.#chunks.push(this.#target.subarray(0, this.#size))
    this.#target = null
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
  }

  /** The bytes were read, and nothing refers to their memory. */
  release(): void {
    if (this.#target === null || !this.#isBorrowed) return
    returnMemory(this.#target)
    this.#target = null
  }

  /** All bytes, to be read only: may share memory with others. */
  view(): Buffer {
    if (this.#target !== null) return this.#target.subarray(0, this.#size)
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#size)
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
      bytes.set(target.subarray(0, this.#size))
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
