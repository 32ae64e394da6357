// Memory of this process after a collection. Needs --expose-gc.
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
