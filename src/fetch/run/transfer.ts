/**
 * How much of a response has arrived, and when. Used for the size limit, and as the `performance` entry of a
 * completed fetch. The times come from the engine.
 */
import { now } from '../../base/loop/clock.ts'
import type { Timings } from '../../errors.ts'
import type { UrlParts } from '../url/url-parts.ts'
import type { Trail } from './redirect.ts'

export class Transfer {
  status = 0
  timings: Timings | null = null
  trail: Trail | null = null
  endTime = 0
  /** Bytes received, as they were on the wire. */
  encodedBodySize = 0
  decodedBodySize = 0
  /** The limit after decoding; the dispatcher counts only the bytes it receives. */
  maxBytes: number = Number.POSITIVE_INFINITY

  /** Counts decoded bytes. False if they exceed the limit. */
  admit(count: number): boolean {
    this.decodedBodySize += count
    return this.decodedBodySize <= this.maxBytes
  }

  /** Hands itself to the runtime, which reads the members below. */
  report(url: UrlParts, trail: Trail | null): void {
    // Looked up on the global object, because a measuring program or a test environment may have replaced it.
    const clock = globalThis.performance as { markResourceTiming?(...args: unknown[]): void } | undefined
    if (typeof clock?.markResourceTiming !== 'function') return
    const first = trail === null ? url : trail.first
    this.trail = trail
    // Third-party dispatchers report no timings: then only the end is known.
    this.endTime = this.timings?.end ?? now()
    try {
      // The times, the URL, the initiator, the global object, the cache mode, the sizes, the status, the
      // delivery.
      clock.markResourceTiming(this, first.href, 'fetch', globalThis, '', this, this.status, '')
    } catch {
      // The response is complete, whatever becomes of its measurement.
    }
  }
}

/** By the names that the runtime reads. Computed on demand, because most entries are never looked at. */
const MEMBERS: Record<string, (transfer: Transfer) => unknown> = {
  startTime: (transfer) => transfer.trail?.startTime || begin(transfer),
  redirectStartTime: ({ trail }) => trail?.startTime ?? 0,
  redirectEndTime: ({ trail }) => trail?.redirectEnd ?? 0,
  postRedirectStartTime: begin,
  finalServiceWorkerStartTime: () => 0,
  finalNetworkRequestStartTime: (transfer) => transfer.timings?.sent ?? begin(transfer),
  finalNetworkResponseStartTime: ({ timings, endTime }) => timings?.firstByte ?? endTime,
  finalConnectionTimingInfo: connectionTiming,
  // The runtime reads the sizes under these names from its argument for the body.
  encodedSize: ({ encodedBodySize }) => encodedBodySize,
  decodedSize: ({ decodedBodySize }) => decodedBodySize,
}

for (const [name, read] of Object.entries(MEMBERS)) {
  Object.defineProperty(Transfer.prototype, name, {
    get(this: Transfer): unknown {
      return read(this)
    },
  })
}

/** When the request with the final response was queued. */
function begin({ timings, endTime }: Transfer): number {
  return timings?.queued ?? endTime
}

function connectionTiming(transfer: Transfer): object {
  const start = begin(transfer)
  const connected = transfer.timings?.connect ?? start
  const secured = transfer.timings?.secured ?? null
  return {
    domainLookupStartTime: start,
    domainLookupEndTime: start,
    connectionStartTime: start,
    connectionEndTime: secured ?? connected,
    secureConnectionStartTime: secured === null ? start : connected,
    ALPNNegotiatedProtocol: '',
  }
}
