// Time and memory of an import in this process, which has imported nothing else of weight.
import { privateMemory, settledMemory } from './memory.mjs'

export async function measure({ specifier }) {
  const before = { ...settledMemory(), private: privateMemory() }
  const begin = performance.now()
  await import(specifier)
  const ms = performance.now() - begin
  const after = { ...settledMemory(), private: privateMemory() }
  return {
    ms,
    heap: (after.heapUsed - before.heapUsed) / 1024,
    private: (after.private - before.private) / 1024,
  }
}
