/** Collects garbage on demand, without a flag on the command line. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function garbageCollector(): () => void {
  const { Bun } = globalThis as { Bun?: { gc(synchronous: boolean): void } }
  if (Bun !== undefined) return () => Bun.gc(true)
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
