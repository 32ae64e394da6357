/** How much of a response has arrived, for the limit of its size and for its timing entry. */
import type { Timings } from '../errors.ts'
import type { Trail } from './redirect.ts'
import { reportTiming } from './resource-timing.ts'
import type { UrlParts } from './url-parts.ts'

export class Transfer {
  status = 0
  timings: Timings | null = null
  /** Received, as they were on the wire. */
  bytes = 0
  /** The limit after decoding; the dispatcher counts only what it receives. */
  maxBytes: number = Number.POSITIVE_INFINITY
  #decodedBytes = 0

  /** Counts decoded bytes. False when they are more than the limit allows. */
  admit(count: number): boolean {
    this.#decodedBytes += count
    return this.#decodedBytes <= this.maxBytes
  }

  report(url: UrlParts, trail: Trail | null): void {
    reportTiming(url, trail, this.timings, this.status, this.bytes, this.#decodedBytes)
  }
}
