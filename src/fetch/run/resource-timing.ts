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

/** The times of one fetch, by the names that the runtime looks for. Most entries are never looked at. */
class TimingInfo {
  readonly #timings: Timings | null
  readonly #trail: Trail | null
  readonly endTime: number
  readonly encodedBodySize: number
  readonly decodedBodySize: number

  constructor(
    timings: Timings | null,
    trail: Trail | null,
    encodedBodySize: number,
    decodedBodySize: number,
  ) {
    this.#timings = timings
    this.#trail = trail
    // Third-party dispatchers report no timings: then only the end is known.
    this.endTime = timings?.end ?? now()
    this.encodedBodySize = encodedBodySize
    this.decodedBodySize = decodedBodySize
  }

  get startTime(): number {
    const trail = this.#trail
    return trail !== null && trail.startTime > 0 ? trail.startTime : this.postRedirectStartTime
  }

  get redirectStartTime(): number {
    return this.#trail?.redirectStart ?? 0
  }

  get redirectEndTime(): number {
    return this.#trail?.redirectEnd ?? 0
  }

  get postRedirectStartTime(): number {
    return this.#timings?.queued ?? this.endTime
  }

  get finalServiceWorkerStartTime(): number {
    return 0
  }

  get finalNetworkRequestStartTime(): number {
    return this.#timings?.sent ?? this.postRedirectStartTime
  }

  get finalNetworkResponseStartTime(): number {
    return this.#timings?.firstByte ?? this.endTime
  }

  get finalConnectionTimingInfo(): object {
    const begin = this.postRedirectStartTime
    const connected = this.#timings?.connect ?? begin
    const secured = this.#timings?.secured ?? null
    return {
      domainLookupStartTime: begin,
      domainLookupEndTime: begin,
      connectionStartTime: begin,
      connectionEndTime: secured ?? connected,
      secureConnectionStartTime: secured === null ? begin : connected,
      ALPNNegotiatedProtocol: '',
    }
  }

  // The runtime reads the sizes under these names from its argument for the body.

  get encodedSize(): number {
    return this.encodedBodySize
  }

  get decodedSize(): number {
    return this.decodedBodySize
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
  const info = new TimingInfo(timings, trail, encodedBodySize, decodedBodySize)
  const first = trail === null ? url : trail.first
  try {
    clock.markResourceTiming(info, first.href, 'fetch', globalThis, '', info, status, '')
  } catch {
    // The response is complete, whatever becomes of its measurement.
  }
}
