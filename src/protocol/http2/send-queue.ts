/**
 * Body bytes of one stream that wait for its windows. Chunks are kept by reference and cut at frame
 * boundaries, so a chunk must not be changed before it is out. Its length must be fixed: it becomes 0 when
 * its owner gives the memory away. Knows nothing about windows.
 */
import { RingQueue } from '../../base/collection/ring-queue.ts'
import type { FrameWriter } from './frame-writer.ts'

export class SendQueue {
  /** Of streams on which no body is sent. */
  static readonly NONE: SendQueue = new SendQueue()

  #chunks = new RingQueue<Uint8Array>()
  /** Bytes of the first chunk that have left. */
  #offset = 0
  bytes = 0

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.bytes += chunk.length
  }

  /** Whether the memory of the next `count` bytes is still there. */
  holds(count: number): boolean {
    let held = -this.#offset
    for (let index = 0; held < count; index++) {
      const { length } = this.#chunks.at(index)!
      if (length === 0) return false
      held += length
    }
    return true
  }

  /** Moves exactly `count` bytes, no more than there are, into the writer. */
  moveTo(writer: FrameWriter, count: number): void {
    let left = count
    this.bytes -= count
    while (left > 0) {
      const chunk = this.#chunks.peek()!
      const taken = Math.min(left, chunk.length - this.#offset)
      writer.body(chunk, this.#offset, this.#offset + taken)
      left -= taken
      this.#offset += taken
      if (this.#offset === chunk.length) {
        this.#chunks.shift()
        this.#offset = 0
      }
    }
  }

  clear(): void {
    if (this.bytes === 0) return
    this.#chunks = new RingQueue()
    this.#offset = 0
    this.bytes = 0
  }
}
