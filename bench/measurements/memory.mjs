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

/** Bytes that the process has written: without the pages of the program's file, which come and go as it is read. */
export function writtenMemory() {
  const [, kilobytes] = /^Private_Dirty:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))
  return Number(kilobytes) * 1024
}
