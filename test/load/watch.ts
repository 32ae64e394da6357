/** The effect of a load on the process: event-loop delay, memory, and leaked handles. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Nanoseconds in a millisecond. */
const MILLION = 1e6

/** Sockets, pipes and timers: the handles that an HTTP client can leak. */
const KINDS = /^(?:TCP|TTY|Pipe|Timeout|GetAddrInfo)/

export function handles(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => KINDS.test(kind))
    .sort()
}

/** Longer waits are in vain; without a limit, a failed test would never release its process. */
const PATIENCE = 240_000

/** Polls until the condition holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const start = performance.now()
  while (!(await holds())) {
    if (performance.now() - start > PATIENCE) throw new Error(`never came true: ${holds}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Waits until there are no more handles than before. */
export async function handlesBackTo(before: readonly string[]): Promise<void> {
  await until(() => handles().length <= before.length)
}

/** Bytes in use after a garbage collection. */
export async function memory(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export interface LoopDelay {
  readonly p99: number
  readonly max: number
}

/** Runs something and returns how long the event loop was blocked meanwhile, in milliseconds. */
export async function withLoopDelay<T>(run: () => Promise<T>): Promise<{ result: T; delay: LoopDelay }> {
  const monitor = monitorEventLoopDelay({ resolution: 5 })
  monitor.enable()
  try {
    const result = await run()
    return { result, delay: { p99: monitor.percentile(99) / MILLION, max: monitor.max / MILLION } }
  } finally {
    monitor.disable()
  }
}
