// Time and memory of an import in this process, which has imported nothing else of significant size.
import { settledMemory, writtenMemory } from './memory.mjs'

export async function measure({ specifier }) {
  // The first measurement allocates memory itself.
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
