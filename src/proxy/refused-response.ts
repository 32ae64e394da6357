/** A refusal that comes as a response. Its beginning is for the error; the rest is read within limits. */
import { DiscardedBody } from '../relay/discarded-body.ts'
import type { Head } from '../relay/response-source.ts'
import type { Refusal } from './proxy-error.ts'
import { KEPT_BYTES } from './refusal-reader.ts'

export class RefusedResponse {
  readonly #head: Head
  readonly #limits: DiscardedBody
  #body = Buffer.alloc(0)

  /** @param giveUp Ends a response that is too long, or takes too long. */
  constructor(head: Head, giveUp: () => void) {
    this.#head = head
    this.#limits = new DiscardedBody(giveUp)
    // Without the announced length: the beginning is wanted in any case.
    this.#limits.begin(null, true)
  }

  take(chunk: Buffer): void {
    const missing = KEPT_BYTES - this.#body.length
    if (missing > 0) this.#body = Buffer.concat([this.#body, chunk.subarray(0, missing)])
    this.#limits.take(chunk.length)
  }

  /** Complete, lost, or given up. */
  end(): Refusal {
    this.#limits.stop()
    const { statusCode, headers } = this.#head
    return { statusCode, headers, body: this.#body.toString() }
  }
}
