// The open loop: requests start when they are due, whether or not earlier ones were answered. A latency begins when its
// request was due, so that a stall counts for every request it delayed.
import { performance } from 'node:perf_hooks'
import { checkBody, once } from './session.mjs'

/**
 * Resolves to the latencies in milliseconds, in the order in which the requests were due. `wait` is called with what
 * goes on and with the milliseconds until the next request is due.
 */
export function paced(session, { path, rate }, seconds, bytes, wait = setTimeout) {
  const total = Math.max(1, Math.round(rate * seconds))
  const latencies = new Float64Array(total)
  const interval = 1000 / rate
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    let sent = 0
    let answered = 0
    const send = (index) => {
      once(session, path).then((text) => {
        if (bytes !== null) checkBody(text, bytes)
        latencies[index] = performance.now() - begin - index * interval
        if (++answered === total) resolve(latencies)
      }, reject)
    }
    const tick = () => {
      const now = performance.now()
      while (sent < total && begin + sent * interval <= now) send(sent++)
      if (sent < total) wait(tick, Math.max(0, begin + sent * interval - performance.now()))
    }
    tick()
  })
}

/** Sorts the latencies; the result is a function from a share of them to the longest latency within it. */
export function percentiles(latencies) {
  latencies.sort()
  return (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]
}

/** `count` requests, so many at a time. */
export async function burst(session, { path, connections, lanes }, count) {
  const width = Math.max(connections, lanes)
  for (let sent = 0; sent < count; sent += width) {
    await Promise.all(Array.from({ length: width }, () => once(session, path)))
  }
}
