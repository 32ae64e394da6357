/**
 * Counts how much of a response has arrived, for its size limit and its timing entry, or until it is given up
 * unread.
 */
import type { Timings } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import type { UrlParts } from '../url/url-parts.ts'
import type { Trail } from './redirect.ts'
import { reportTiming } from './resource-timing.ts'

export class Transfer {
  status = 0
  timings: Timings | null = null
  /** Bytes received, as they were on the wire. */
  bytes = 0
  /** The limit after decoding; the dispatcher counts only the bytes it receives. */
  maxBytes: number = Number.POSITIVE_INFINITY
  #decodedBytes = 0
  #discarded: DiscardedBody | null = null

  /** Nobody wants the body: reads on only as long as that is cheaper than a new connection. */
  discard(headers: HeaderObject | null, hasBody: boolean, giveUp: () => void): void {
    if (this.#discarded !== null) return
    this.#discarded = new DiscardedBody(giveUp)
    this.#discarded.begin(headers, hasBody)
  }

  /** Bytes that nobody wants. */
  drop(count: number): void {
    this.#discarded?.take(count)
  }

  /** Nothing more comes. */
  stop(): void {
    this.#discarded?.stop()
  }

  /** Counts decoded bytes. False if they exceed the limit. */
  admit(count: number): boolean {
    this.#decodedBytes += count
    return this.#decodedBytes <= this.maxBytes
  }

  report(url: UrlParts, trail: Trail | null): void {
    reportTiming(url, trail, this.timings, this.status, this.bytes, this.#decodedBytes)
  }
}
