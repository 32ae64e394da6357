// Time and memory of an import in this process, which has imported nothing else of weight.
import { settledMemory } from './memory.mjs'

export async function measure({ specifier }) {
  const before = settledMemory()
  const begin = performance.now()
  await import(specifier)
  const ms = performance.now() - begin
  const after = settledMemory()
  return {
    ms,
    heap: (after.heapUsed - before.heapUsed) / 1024,
    rss: (after.rss - before.rss) / 1024,
  }
}
