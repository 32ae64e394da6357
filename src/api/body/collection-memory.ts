/**
 * Memory in which bodies are collected to be decoded. It is used again: fresh memory of this size costs more than
 * decoding what is in it, for the system must clear its pages and the runtime collects garbage for every few of them.
 */
import { Buffer } from 'node:buffer'

/** Less than this is cheap to get, and often kept by many bodies at once. */
const LEAST_BYTES = 32_768

const MOST_KEPT = 4

/** Weak: what is not in use goes with the next collection of garbage. */
let kept: WeakRef<Buffer[]> | null = null

/** At least so many bytes, with the content of an earlier body. */
export function takeMemory(length: number): Buffer {
  const free = kept?.deref()
  if (free !== undefined && length >= LEAST_BYTES) {
    const index = free.findLastIndex((memory) => memory.length >= length)
    if (index >= 0) return free.splice(index, 1)[0]!
  }
  return Buffer.allocUnsafeSlow(length)
}

/** The caller does not use it any more. */
export function returnMemory(memory: Buffer): void {
  if (memory.length < LEAST_BYTES) return
  const free = kept?.deref()
  if (free === undefined) kept = new WeakRef([memory])
  else if (free.length < MOST_KEPT) free.push(memory)
}
