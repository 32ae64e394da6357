/**
 * Copies of bytes that wait for a consumer. Most are small and read once, and memory for each alone would
 * take longer to get than the bytes to copy, so small ones share memory. None of it may reach a caller, who
 * could transfer it to another thread and take the bytes of others with it: {@link ownBytes} makes the copy
 * to hand out.
 */
import { Buffer } from 'node:buffer'
import { NO_BYTES } from './empty.ts'
import { copyBytes, fillFrom, SMALL_BYTES } from './own-bytes.ts'

/** Longer ones get memory that holds nothing else. */
export const MAX_SHARED = 4096

/** One body that is never read keeps no more than this alive. */
const SLAB_BYTES = 32_768

/** The memory into which {@link shareBytes} copies: another one when it is full. */
export let slab: Buffer = NO_BYTES
let taken = 0

/** Copies at most {@link MAX_SHARED} bytes into {@link slab}, and returns where they begin there. */
export function shareBytes(bytes: Buffer, start: number, end: number): number {
  const length = end - start
  if (length > slab.length - taken) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
    taken = 0
  }
  const from = taken
  taken += length
  fillFrom(slab, from, bytes, start, end)
  return from
}

/** How many bytes {@link shareBytes} can put directly behind the end of a copy that it made. */
export function roomBehind(memory: Buffer, end: number): number {
  return memory === slab && end === taken ? slab.length - taken : 0
}

/**
 * A copy to be read here only. Those that fit into the heap share nothing: a view of shared memory takes as
 * long to make.
 */
export function holdBytes(bytes: Buffer, start: number, end: number): Buffer {
  const length = end - start
  if (length <= SMALL_BYTES || length > MAX_SHARED) return copyBytes(bytes, start, end)
  const from = shareBytes(bytes, start, end)
  return slab.subarray(from, from + length)
}
