/**
 * A response body in memory, while it arrives and afterwards. Its bytes are copies: handlers own what they
 * get, and may change it or transfer it to another thread. Small pieces are joined, so that a peer that sends
 * single bytes cannot make the cache keep millions of buffers.
 */
import { Buffer } from 'node:buffer'
import { copyBytes } from '../base/bytes/own-bytes.ts'

const BLOCK_SIZE = 64 * 1024

/** What waits for more of a body that is still arriving. */
export interface BodyWaiter {
  onBodyProgress(): void
}

export interface BodyReader {
  /** A copy of the next piece; null at the end; undefined if the waiter has to wait. Throws if it failed. */
  read(waiter: BodyWaiter): Buffer | null | undefined
  /** No more is wanted. */
  close(): void
}

export class BodyLog {
  /** All of the same size but the first; the last one may still have room. */
  readonly #blocks: Buffer[] = []
  readonly waiters: Set<BodyWaiter> = new Set()
  #firstSize = 0
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
        if (this.#firstSize === 0) this.#firstSize = Math.min(BLOCK_SIZE, chunk.length)
        last = Buffer.allocUnsafeSlow(this.size === 0 && from === 0 ? this.#firstSize : BLOCK_SIZE)
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
    if (last !== undefined && this.#used < last.length)
      this.#blocks[this.#blocks.length - 1] = copyBytes(last, 0, this.#used)
    return this.#blocks
  }

  /** A copy of what has arrived from this position on, up to the end of a block; null if nothing has. */
  copyFrom(position: number): Buffer | null {
    if (position >= this.size) return null
    const index = this.#indexOf(position)
    const block = this.#blocks[index - this.#dropped]!
    const start = index === 0 ? 0 : this.#firstSize + (index - 1) * BLOCK_SIZE
    return copyBytes(block, position - start, Math.min(block.length, this.size - start))
  }

  /** Forgets the blocks before this position: all readers are past them. */
  dropBefore(position: number): void {
    const index = this.#indexOf(position)
    while (this.#dropped < index && this.#blocks.shift() !== undefined) this.#dropped++
  }

  #indexOf(position: number): number {
    return Math.ceil((position + 1 - this.#firstSize) / BLOCK_SIZE)
  }

  #wake(): void {
    for (const waiter of [...this.waiters]) waiter.onBodyProgress()
  }
}

/** A body that another request is receiving. */
export class LogReader implements BodyReader {
  readonly #log: BodyLog
  #waiter: BodyWaiter | null = null
  position = 0

  constructor(log: BodyLog) {
    this.#log = log
  }

  /** Bytes that have arrived and were not read. */
  get unread(): number {
    return this.#log.size - this.position
  }

  read(waiter: BodyWaiter): Buffer | null | undefined {
    const chunk = this.#log.copyFrom(this.position)
    if (chunk !== null) {
      this.position += chunk.length
      return chunk
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
