/**
 * Memory of what callers are given. A caller may keep it, change it, or transfer it to another thread, so it holds nothing
 * but what was meant for him, and nothing here reads it afterwards. `Buffer.allocUnsafe` will not do: its memory has the
 * bytes of others around.
 */
// The global of this name is a getter, which is too slow for every read.
import { Buffer } from 'node:buffer'

/** Up to here the runtime makes typed arrays within the heap, which is quick; to ask one for its `buffer` is not. */
const WITHIN_HEAP_BYTES = 64

/** Below this a loop copies quicker than a call into the runtime. */
const LOOP_BELOW_BYTES = 64

const NO_BYTES: Buffer = Buffer.alloc(0)

/** These bytes in memory of their own: the same if they fill theirs, else a copy. */
export function ownBytes(bytes: Buffer, start: number, end: number): Buffer {
  const isWhole = start === 0 && end === bytes.length && end > WITHIN_HEAP_BYTES
  return isWhole && bytes.buffer.byteLength === end ? bytes : copyBytes(bytes, start, end)
}

/** A copy in memory of its own. */
export function copyBytes(bytes: Buffer, start: number, end: number): Buffer {
  const length = end - start
  if (length === 0) return NO_BYTES
  return fill(Buffer.allocUnsafeSlow(length), bytes, start, end)
}

/** A copy for ourselves, of which no caller gets a part. */
export function keepBytes(bytes: Buffer, start: number, end: number): Buffer {
  const length = end - start
  if (length === 0) return NO_BYTES
  return fill(Buffer.allocUnsafe(length), bytes, start, end)
}

/** What was not taken of bytes that were so long. When all was taken, a caller may have given their memory away. */
export function restOf(bytes: Buffer, start: number, length: number): Buffer {
  return start < length ? bytes.subarray(start) : NO_BYTES
}

function fill(target: Buffer, bytes: Buffer, start: number, end: number): Buffer {
  const length = end - start
  if (length < LOOP_BELOW_BYTES) {
    for (let i = 0; i < length; i++) target[i] = bytes[start + i]!
  } else {
    bytes.copy(target, 0, start, end)
  }
  return target
}
