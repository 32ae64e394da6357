// Percentiles of an open loop: requests start at a fixed rate whether or not earlier ones were answered, and a
// latency begins when its request was due, so a stall counts for every request it delayed. The loop spins instead
// of sleeping because timers have a resolution of a millisecond; that makes the CPU time of this run meaningless.
import { checkBody, checkProtocol, once, openSession } from './session.mjs'

export async function measure(job) {
  const { scenario, seconds, warmup, bytes } = job
  const session = await openSession(job)
  await checkProtocol(session, scenario.wire)
  await runAt(scenario.rate, warmup, session, scenario.path, bytes)
  const latencies = await runAt(scenario.rate, seconds, session, scenario.path, bytes)
  await session.close()
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999) }
}

/** Resolves to the latencies in milliseconds, sorted. */
function runAt(rate, seconds, session, path, bytes) {
  const total = Math.max(1, Math.round(rate * seconds))
  const latencies = new Float64Array(total)
  const interval = 1000 / rate
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    let sent = 0
    let answered = 0
    const send = (due) => {
      once(session, path).then((text) => {
        checkBody(text, bytes)
        latencies[answered++] = performance.now() - due
        if (answered === total) resolve(latencies.sort())
      }, reject)
    }
    const turn = () => {
      const now = performance.now()
      for (let due = begin + sent * interval; due <= now && sent < total; due = begin + sent * interval) {
        sent++
        send(due)
      }
      if (sent < total) setImmediate(turn)
    }
    turn()
  })
}
