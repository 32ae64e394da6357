// What a number of requests costs: time, CPU time of this process, and memory allocated on its heap.
import { meterGarbage } from './garbage.mjs'

/**
 * Returns a function that takes the number of requests since this call, and returns how many there were in a second
 * and what each cost. It stops the meter.
 */
export function meterCosts() {
  const garbageSoFar = meterGarbage()
  const from = { time: performance.now(), cpu: process.cpuUsage() }
  return (count) => {
    const elapsed = (performance.now() - from.time) / 1000
    const { user, system } = process.cpuUsage(from.cpu)
    return { rps: count / elapsed, cpu: (user + system) / count, garbage: garbageSoFar() / count }
  }
}
