/** Counts how much of a response has arrived, for its size limit and its timing entry. */
import type { Timings } from '../errors.ts'
import type { Trail } from './redirect.ts'
import { reportTiming } from './resource-timing.ts'
import type { UrlParts } from './url-parts.ts'

/** Bytes of an unwanted body that are drained to keep the connection; beyond that, a new connection is cheaper. */
const DRAIN_LIMIT = 131_072

export class Transfer {
  status = 0
  timings: Timings | null = null
  /** Bytes received, as they were on the wire. */
  bytes = 0
  /** The limit after decoding; the dispatcher counts only the bytes it receives. */
  maxBytes: number = Number.POSITIVE_INFINITY
  #decodedBytes = 0

  /** Counts decoded bytes. False if they exceed the limit. */
  admit(count: number): boolean {
    this.#decodedBytes += count
    return this.#decodedBytes <= this.maxBytes
  }

  /** Whether so much of an unwanted body has arrived that its connection is not worth waiting for. */
  get exceedsDrain(): boolean {
    return this.bytes > DRAIN_LIMIT
  }

  report(url: UrlParts, trail: Trail | null): void {
    reportTiming(url, trail, this.timings, this.status, this.bytes, this.#decodedBytes)
  }
}
