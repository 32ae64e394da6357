/** Sends one request many times, some at a time, and measures. */
import type { Dialer } from './dialer.ts'
import { type Outgoing, requestOptions } from './exchange.ts'
import { deadline, type Failure, failureOf, type Stage } from './failure.ts'

/** The results of sending one request many times. */
export type Measurement = Readonly<Awaited<ReturnType<typeof repeat>>>

export async function repeat(
  dialer: Dialer,
  outgoing: Outgoing,
  requests: number,
  concurrency: number,
  onProgress: (done: number) => void,
) {
  const { url, method, timeout } = outgoing
  const pool = dialer.open(concurrency)
  const options = requestOptions(outgoing)
  const latencies = new Float64Array(requests)
  const statuses = new Map<number, number>()
  /** By code; the first of each, and how many. */
  const failures = new Map<string, Failure & { count: number }>()
  let succeeded = 0
  let sent = 0
  let done = 0
  let bytes = 0

  const one = async (): Promise<void> => {
    const limit = timeout && deadline(timeout)
    const started = performance.now()
    let stage: Stage = dialer.connections.length === 0 ? 'connecting' : 'waiting for the response'
    try {
      const response = await pool.request({ ...options, signal: limit ? limit.signal : null })
      stage = 'receiving the body'
      for await (const chunk of response.body) bytes += (chunk as Buffer).length
      latencies[succeeded++] = performance.now() - started
      statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1)
    } catch (error) {
      const failure = failureOf(error, stage)
      const known = failures.get(failure.code) ?? { ...failure, count: 0 }
      failures.set(failure.code, { ...known, count: known.count + 1 })
    }
    if (limit) limit.clear()
    onProgress(++done)
  }
  const worker = async (): Promise<void> => {
    while (sent < requests) {
      sent++
      await one()
    }
  }

  const started = performance.now()
  await Promise.all(Array.from({ length: Math.min(concurrency, requests) }, worker))
  const duration = performance.now() - started
  await (failures.size === 0 ? pool.close() : pool.destroy())
  dialer.end()
  return {
    method,
    url: url.href,
    requests,
    concurrency,
    duration,
    // Of those that got a whole response.
    latencies: latencies.subarray(0, succeeded).sort(),
    // Of response bodies.
    bytes,
    statuses,
    failures,
    connections: dialer.connections.length,
    protocols: [...new Set(dialer.connections.map(({ protocol }) => protocol))],
  }
}
