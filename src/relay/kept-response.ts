/**
 * A response that becomes an error: the beginning of its body is kept for that, and the rest is read within
 * limits.
 */
import { BodyBytes } from '../base/bytes/body-bytes.ts'
import { DiscardedBody } from './discarded-body.ts'
import type { Head } from './response-source.ts'

export class KeptResponse {
  readonly head: Head
  readonly #most: number
  readonly #rest: DiscardedBody
  readonly #body: BodyBytes = BodyBytes.none()
  #size = 0

  /**
   * @param most Bytes that are kept.
   * @param giveUp Ends a response that is too long, or takes too long.
   */
  constructor(head: Head, most: number, giveUp: () => void) {
    this.head = head
    this.#most = most
    this.#rest = new DiscardedBody(giveUp, most)
    // Without the announced length: the beginning is wanted in any case.
    this.#rest.begin(null, true)
  }

  take(chunk: Buffer): void {
    const room = this.#most - this.#size
    if (room > 0) this.#body.add(room < chunk.length ? chunk.subarray(0, room) : chunk)
    this.#size += chunk.length
    this.#rest.take(chunk.length)
  }

  get isTruncated(): boolean {
    return this.#size > this.#most
  }

  /** It is complete, lost, or given up. Returns what was kept. */
  end(): Buffer {
    this.#rest.stop()
    return Buffer.from(this.#body.own().buffer)
  }
}
