/**
 * Memory in which bodies are collected to be decoded. It is used again: fresh memory of this size costs more
 * than decoding what is in it, for the system must clear its pages and the runtime collects garbage for every
 * few of them.
 */
import { Buffer } from 'node:buffer'

/** Less than this is cheap to get, and often kept by many bodies at once. */
const LEAST_BYTES = 32_768

/** Bytes that wait for their next use. */
const MOST_KEPT = 4_194_304

interface Free {
  readonly pieces: Buffer[]
  /** Of all pieces together. */
  bytes: number
}

/** Weak: what is not in use goes with the next collection of garbage. */
let kept: WeakRef<Free> | null = null

/** At least this many bytes, with the content of an earlier body. */
export function takeMemory(length: number): Buffer {
  const free = kept?.deref()
  if (free !== undefined && length >= LEAST_BYTES) {
    const index = free.pieces.findLastIndex((memory) => memory.length >= length)
    if (index >= 0) {
      const [memory] = free.pieces.splice(index, 1) as [Buffer]
      free.bytes -= memory.length
      return memory
    }
  }
  return Buffer.allocUnsafeSlow(length)
}

/** The caller does not use it any more. */
export function returnMemory(memory: Buffer): void {
  if (memory.length < LEAST_BYTES) return
  const free = kept?.deref()
  if (free === undefined) {
    kept = new WeakRef({ pieces: [memory], bytes: memory.length })
  } else if (free.bytes + memory.length <= MOST_KEPT) {
    free.pieces.push(memory)
    free.bytes += memory.length
  }
}
