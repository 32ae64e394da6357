/**
 * Memory that callers get. A caller may keep it, change it, or transfer it to another thread, so it holds
 * only the caller's bytes and is never read here afterwards. `Buffer.allocUnsafe` will not do: its memory is
 * a pool shared with other data.
 */
// The global of this name is a getter, which is too slow for every read.
import { Buffer } from 'node:buffer'
import { NO_BYTES } from './empty.ts'

/**
 * Up to here the runtime makes typed arrays within the heap, faster than from the pool; reading their
 * `buffer` is slow. A loop also copies them faster than a call into the runtime.
 */
export const SMALL_BYTES = 64

const scratch = Buffer.allocUnsafeSlow(SMALL_BYTES)

/** Memory that is lent to a receiver, who may keep it: null once it is kept. */
let offered: Buffer | null = null

/** These bytes in memory that holds nothing else: the same if they fill it, else a copy. */
export function ownBytes(bytes: Buffer, start: number, end: number): Buffer {
  const isWhole = start === 0 && end === bytes.length && end > SMALL_BYTES
  if (!isWhole || bytes.buffer.byteLength !== end) return copyBytes(bytes, start, end)
  if (bytes === offered) offered = null
  return bytes
}

/** The owner of this memory lends it, and will not use it again if {@link ownBytes} gives it to a caller. */
export function offerMemory(memory: Buffer): void {
  offered = memory
}

/** Whether the memory that was offered has become a caller's. */
export function isMemoryTaken(memory: Buffer): boolean {
  const isTaken = offered !== memory
  offered = null
  return isTaken
}

/** A copy in memory that holds nothing else. */
export function copyBytes(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start)
  fillFrom(copy, 0, bytes, start, end)
  return copy
}

/** Copies bytes to a place in other memory. */
export function fillFrom(target: Buffer, at: number, bytes: Buffer, start: number, end: number): void {
  const length = end - start
  if (length <= SMALL_BYTES) {
    for (let i = 0; i < length; i++) target[at + i] = bytes[start + i]!
  } else {
    bytes.copy(target, at, start, end)
  }
}

/**
 * Bytes as text. Before native code reads a typed array in the heap, the runtime moves it out, which takes
 * longer than copying a small one.
 */
export function utf8Of(bytes: Buffer, start: number, end: number): string {
  if (bytes.length > SMALL_BYTES) return bytes.toString('utf8', start, end)
  for (let i = start; i < end; i++) scratch[i] = bytes[i]!
  return scratch.toString('utf8', start, end)
}

/**
 * The rest of bytes that were `length` long. When all were taken, a caller may have transferred their memory.
 */
export function restOf(bytes: Buffer, start: number, length: number): Buffer {
  return start < length ? bytes.subarray(start, length) : NO_BYTES
}
