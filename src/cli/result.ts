/**
 * What `--json` prints. The shape is an interface: keys are always there, null for what is not, and later
 * versions only add.
 */
import { contentOf } from './body.ts'
import type { Exchange } from './exchange.ts'
import { buckets, summarise } from './histogram.ts'
import type { Measurement } from './repeat.ts'

export function exchangeResult(exchange: Exchange, savedTo: string | null): object {
  const { startedAt, request, early, response, connection, phases, failure } = exchange
  const content = response && savedTo === null ? contentOf(response) : null
  // A body that was saved, or is too large to be kept, is not repeated.
  const whole = content?.isWhole ? content : null
  return {
    startedAt: startedAt.toISOString(),
    request: {
      method: request.method,
      url: request.url.href,
      headers: request.headers,
      size: request.body?.length ?? 0,
    },
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

export function measurementResult({ latencies, statuses, failures, ...rest }: Measurement): object {
  return {
    ...rest,
    requestsPerSecond: (latencies.length * 1000) / rest.duration,
    statuses: Object.fromEntries(statuses),
    errors: [...failures.values()],
    latency: summarise(latencies),
    histogram: buckets(latencies),
  }
}
