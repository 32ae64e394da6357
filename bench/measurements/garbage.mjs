// Bytes allocated on the heap: its growth between collections, which make it smaller again.
import { GCProfiler } from 'node:v8'

/** Returns a function that returns the bytes since this call, and stops the meter. */
export function meterGarbage() {
  const profiler = new GCProfiler()
  profiler.start()
  const first = process.memoryUsage().heapUsed
  return () => {
    const last = process.memoryUsage().heapUsed
    let allocated = 0
    let used = first
    for (const { beforeGC, afterGC } of profiler.stop().statistics) {
      allocated += Math.max(0, beforeGC.heapStatistics.usedHeapSize - used)
      used = afterGC.heapStatistics.usedHeapSize
    }
    return allocated + Math.max(0, last - used)
  }
}
