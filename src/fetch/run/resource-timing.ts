/** The `performance` entry of each completed fetch. The times come from the engine; no clock is read here. */
import { now } from '../../base/loop/clock.ts'
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

/** What is known of one fetch. */
class TimingInfo {
  readonly timings: Timings | null
  readonly trail: Trail | null
  readonly endTime: number
  readonly encodedBodySize: number
  readonly decodedBodySize: number

  constructor(timings: Timings | null, trail: Trail | null, encodedSize: number, decodedSize: number) {
    this.timings = timings
    this.trail = trail
    // Third-party dispatchers report no timings: then only the end is known.
    this.endTime = timings?.end ?? now()
    this.encodedBodySize = encodedSize
    this.decodedBodySize = decodedSize
  }
}

/** By the names that the runtime reads. Computed on demand, because most entries are never looked at. */
const MEMBERS: Record<string, (info: TimingInfo) => unknown> = {
  startTime: (info) => info.trail?.startTime || begin(info),
  redirectStartTime: ({ trail }) => trail?.redirectStart ?? 0,
  redirectEndTime: ({ trail }) => trail?.redirectEnd ?? 0,
  postRedirectStartTime: begin,
  finalServiceWorkerStartTime: () => 0,
  finalNetworkRequestStartTime: (info) => info.timings?.sent ?? begin(info),
  finalNetworkResponseStartTime: ({ timings, endTime }) => timings?.firstByte ?? endTime,
  finalConnectionTimingInfo: connectionTiming,
  // The runtime reads the sizes under these names from its argument for the body.
  encodedSize: ({ encodedBodySize }) => encodedBodySize,
  decodedSize: ({ decodedBodySize }) => decodedBodySize,
}

for (const [name, read] of Object.entries(MEMBERS)) {
  Object.defineProperty(TimingInfo.prototype, name, {
    get(this: TimingInfo): unknown {
      return read(this)
    },
  })
}

/** When the request that was answered was queued. */
function begin({ timings, endTime }: TimingInfo): number {
  return timings?.queued ?? endTime
}

function connectionTiming(info: TimingInfo): object {
  const start = begin(info)
  const connected = info.timings?.connect ?? start
  const secured = info.timings?.secured ?? null
  return {
    domainLookupStartTime: start,
    domainLookupEndTime: start,
    connectionStartTime: start,
    connectionEndTime: secured ?? connected,
    secureConnectionStartTime: secured === null ? start : connected,
    ALPNNegotiatedProtocol: '',
  }
}

export function reportTiming(
  url: UrlParts,
  trail: Trail | null,
  timings: Timings | null,
  status: number,
  encodedSize: number,
  decodedSize: number,
): void {
  // Looked up on the global object, because a measuring program or a test environment may have replaced it.
  const clock = globalThis.performance as unknown as { markResourceTiming?: Mark } | undefined
  if (typeof clock?.markResourceTiming !== 'function') return
  const info = new TimingInfo(timings, trail, encodedSize, decodedSize)
  const first = trail === null ? url : trail.first
  try {
    clock.markResourceTiming(info, first.href, 'fetch', globalThis, '', info, status, '')
  } catch {
    // The response is complete, whatever becomes of its measurement.
  }
}
