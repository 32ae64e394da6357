/**
 * A response body in memory, while it arrives and afterwards. Its bytes are copies: handlers own what they get, and may
 * change it or transfer it to another thread. Small pieces are joined, so that a peer that sends single bytes cannot make
 * the cache keep millions of buffers.
 */
import { Buffer } from 'node:buffer'
import { copyBytes } from '../base/own-bytes.ts'

const BLOCK_SIZE = 64 * 1024

/** What waits for more of a body that is still arriving. */
export interface BodyWaiter {
  onBodyProgress(): void
}

export interface BodyReader {
  /** The next piece, in memory of its own; null at the end; undefined if the waiter has to wait. Throws if the body failed. */
  read(waiter: BodyWaiter): Buffer | null | undefined
  /** No more is wanted. */
  close(): void
}

export class BodyLog {
  /** Complete blocks; the last one may still have room. */
  readonly #blocks: Buffer[] = []
  readonly waiters: Set<BodyWaiter> = new Set()
  /** Bytes used of the last block. */
  #used = 0
  /** Blocks at the beginning that no reader needs any more. */
  #dropped = 0
  size = 0
  state: 'arriving' | 'complete' | { readonly error: Error } = 'arriving'

  append(chunk: Uint8Array): void {
    let from = 0
    while (from < chunk.length) {
      let last = this.#blocks.at(-1)
      if (last === undefined || this.#used === last.length) {
        last = Buffer.allocUnsafeSlow(
          this.#blocks.length === 0 ? Math.min(BLOCK_SIZE, chunk.length - from) : BLOCK_SIZE,
        )
        this.#blocks.push(last)
        this.#used = 0
      }
      const part = Math.min(last.length - this.#used, chunk.length - from)
      last.set(chunk.subarray(from, from + part), this.#used)
      this.#used += part
      from += part
    }
    this.size += chunk.length
    this.#wake()
  }

  complete(): void {
    this.state = 'complete'
    this.#wake()
  }

  fail(error: Error): void {
    this.state = { error }
    this.#wake()
  }

  /** The blocks of a complete body, without unused room. */
  blocks(): Buffer[] {
    const last = this.#blocks.at(-1)
    if (last !== undefined && this.#used < last.length) {
      const exact = Buffer.allocUnsafeSlow(this.#used)
      last.copy(exact, 0, 0, this.#used)
      this.#blocks[this.#blocks.length - 1] = exact
    }
    return this.#blocks
  }

  /** Bytes that are there of block `index`; 0 if it is not there yet. */
  available(index: number): number {
    const at = index - this.#dropped
    if (at < this.#blocks.length - 1) return this.#blocks[at]!.length
    return at === this.#blocks.length - 1 ? this.#used : 0
  }

  /** Nothing more comes into this block. */
  isFull(index: number): boolean {
    const at = index - this.#dropped
    return at < this.#blocks.length - 1 || this.#used === this.#blocks[at]?.length
  }

  block(index: number): Buffer {
    return this.#blocks[index - this.#dropped]!
  }

  /** Forgets the blocks before this one: all readers are past them. */
  dropBefore(index: number): void {
    while (this.#dropped < index && this.#blocks.shift() !== undefined) this.#dropped++
  }

  #wake(): void {
    for (const waiter of [...this.waiters]) waiter.onBodyProgress()
  }
}

/** A body that another request is receiving. */
export class LogReader implements BodyReader {
  readonly #log: BodyLog
  #index = 0
  #offset = 0
  #read = 0
  #waiter: BodyWaiter | null = null

  constructor(log: BodyLog) {
    this.#log = log
  }

  /** The block that it reads. */
  get index(): number {
    return this.#index
  }

  /** Bytes that have arrived and were not read. */
  get unread(): number {
    return this.#log.size - this.#read
  }

  read(waiter: BodyWaiter): Buffer | null | undefined {
    for (;;) {
      const available = this.#log.available(this.#index)
      if (this.#offset < available) {
        const chunk = copyBytes(this.#log.block(this.#index), this.#offset, available)
        this.#offset = available
        this.#read += chunk.length
        return chunk
      }
      if (available === 0 || !this.#log.isFull(this.#index)) break
      this.#index++
      this.#offset = 0
    }
    const { state } = this.#log
    if (state === 'complete') return null
    if (state !== 'arriving') throw state.error
    this.#waiter = waiter
    this.#log.waiters.add(waiter)
    return undefined
  }

  close(): void {
    if (this.#waiter !== null) this.#log.waiters.delete(this.#waiter)
  }
}
