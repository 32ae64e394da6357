/** The `performance` entry of each completed fetch. The times come from the engine; no clock is read here. */
import { now } from '../../base/clock.ts'
import type { Timings } from '../../errors.ts'
import type { UrlParts } from '../url/url-parts.ts'
import type { Trail } from './redirect.ts'

type Mark = (
  info: object,
  url: string,
  initiator: string,
  global: object,
  cacheMode: string,
  bodyInfo: object,
  status: number,
  delivery: string,
) => void

/** The times and sizes of one fetch, by the names that the runtime looks for: as timing, and where it asks for the body. */
function timingInfo(timings: Timings | null, trail: Trail | null, encoded: number, decoded: number): object {
  // Third-party dispatchers report no timings: then only the end is known.
  const end = timings?.end ?? now()
  const begin = timings?.queued ?? end
  const connected = timings?.connect ?? begin
  const secured = timings?.secured ?? null
  return {
    startTime: trail?.startTime || begin,
    redirectStartTime: trail?.redirectStart ?? 0,
    redirectEndTime: trail?.redirectEnd ?? 0,
    postRedirectStartTime: begin,
    finalServiceWorkerStartTime: 0,
    finalNetworkRequestStartTime: timings?.sent ?? begin,
    finalNetworkResponseStartTime: timings?.firstByte ?? end,
    endTime: end,
    encodedBodySize: encoded,
    decodedBodySize: decoded,
    encodedSize: encoded,
    decodedSize: decoded,
    finalConnectionTimingInfo: {
      domainLookupStartTime: begin,
      domainLookupEndTime: begin,
      connectionStartTime: begin,
      connectionEndTime: secured ?? connected,
      secureConnectionStartTime: secured === null ? begin : connected,
      ALPNNegotiatedProtocol: '',
    },
  }
}

export function reportTiming(
  url: UrlParts,
  trail: Trail | null,
  timings: Timings | null,
  status: number,
  encodedBodySize: number,
  decodedBodySize: number,
): void {
  // Looked up on the global object, because a measuring program or a test environment may have replaced it.
  const clock = globalThis.performance as unknown as { markResourceTiming?: Mark } | undefined
  if (typeof clock?.markResourceTiming !== 'function') return
  const info = timingInfo(timings, trail, encodedBodySize, decodedBodySize)
  const first = trail === null ? url : trail.first
  try {
    clock.markResourceTiming(info, first.href, 'fetch', globalThis, '', info, status, '')
  } catch {
    // The response is complete, whatever becomes of its measurement.
  }
}
