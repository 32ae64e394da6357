// Memory of this process after a collection. Needs --expose-gc.
import { readFileSync } from 'node:fs'

export function settledMemory() {
  // Twice: the second collection frees what finalizers released in the first.
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heapUsed, held: heapUsed + external, rss }
}

export function difference(before, after, count) {
  return { heap: (after.held - before.held) / count, rss: (after.rss - before.rss) / count }
}

/** Bytes that the process has written: without pages of the program file, whose number varies as it is read. */
export function writtenMemory() {
  const [, kilobytes] = /^Private_Dirty:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))
  return Number(kilobytes) * 1024
}
