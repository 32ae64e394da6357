// Time and memory of an import in this process, which has imported nothing else of weight.
import { settledMemory, writtenMemory } from './memory.mjs'

export async function measure({ specifier }) {
  // Looking for the first time costs memory of its own.
  look()
  const before = look()
  const begin = performance.now()
  await import(specifier)
  const ms = performance.now() - begin
  const after = look()
  return { ms, heap: (after.heap - before.heap) / 1024, written: (after.written - before.written) / 1024 }
}

function look() {
  const { heapUsed } = settledMemory()
  return { heap: heapUsed, written: writtenMemory() }
}
