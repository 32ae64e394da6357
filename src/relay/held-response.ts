/** A response that is kept back until it is known whether the handler gets it. */
import { BodyBytes } from '../base/bytes/body-bytes.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { Downstream } from './downstream.ts'
import type { Head, Received } from './response-source.ts'

export class HeldResponse {
  readonly head: Head
  /** What has come of its body. A paused attempt of a dispatcher of ours brings nothing. */
  readonly body: BodyBytes = BodyBytes.none()
  /** How the attempt has ended, if it has. */
  outcome: { readonly trailers: HeaderObject } | { readonly error: Error } | null = null

  constructor(head: Head) {
    this.head = head
  }

  /** The handler gets it. */
  passTo(downstream: Downstream, received: Received | null): void {
    downstream.head(this.head, received)
    while (this.body.size > 0) downstream.data(this.body.shiftOwn()!)
    if (this.outcome === null) return
    if ('error' in this.outcome) downstream.fail(this.outcome.error)
    else downstream.end(this.outcome.trailers, received)
  }
}
