// Memory of this process after a collection. Needs --expose-gc.
import { readFileSync } from 'node:fs'

export function settledMemory() {
  // Twice: what a finalizer lets go of in the first is free in the second.
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heapUsed, held: heapUsed + external, rss }
}

export function difference(before, after, count) {
  return { heap: (after.held - before.held) / count, rss: (after.rss - before.rss) / count }
}

/** Bytes that no other process has: without the pages of the program itself, which come and go as they are touched. */
export function privateMemory() {
  const lines = readFileSync('/proc/self/smaps_rollup', 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB$/gm)
  return Array.from(lines).reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0)
}
