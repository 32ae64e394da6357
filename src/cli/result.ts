/**
 * What `--json` prints. The shape is an interface: keys are always there, null for what is not, and later
 * versions only add.
 */
import { contentOf } from './body.ts'
import type { Exchange } from './exchange.ts'
import { buckets } from './histogram.ts'
import type { Measurement } from './load.ts'
import { summarise } from './percentiles.ts'
import { harmless } from './text-layout.ts'

/** The text of a result. */
export function print(result: object): string {
  return `${harmless(JSON.stringify(result, null, 2))}\n`
}

export function exchangeResult(exchange: Exchange, savedTo: string | null): object {
  const { startedAt, request, redirects, retries, early, response, connection, phases, failure } = exchange
  const content = response && savedTo === null ? contentOf(response) : null
  // A body that was saved, or is too large to be kept, is not repeated.
  const whole = content?.isWhole ? content : null
  return {
    startedAt: startedAt.toISOString(),
    request: {
      method: request.method,
      url: request.url.href,
      headers: request.headers,
      size: request.size,
    },
    redirects: redirects.map(({ status, to }) => ({ status, to: to.href })),
    retries,
    early,
    response: response && {
      ...response,
      body: whole && (whole.text ?? whole.bytes.toString('base64')),
      encoding: whole && (whole.text === null ? 'base64' : 'utf-8'),
      savedTo,
    },
    connection,
    timings: phases,
    error: failure,
  }
}

export function measurementResult(measurement: Measurement): object {
  const { latencies, statuses, failures, ...rest } = measurement
  return {
    ...rest,
    requestsPerSecond: (latencies.length * 1000) / rest.duration,
    statuses: Object.fromEntries(statuses),
    errors: [...failures.values()],
    latency: summarise(latencies),
    histogram: buckets(latencies),
  }
}
