/** Delivers a response of the cache, as a dispatcher delivers a received one. */
import { BodyDelivery } from '../relay/body-delivery.ts'
import type { BodyReader } from '../relay/body-log.ts'
import type { Downstream } from '../relay/downstream.ts'
import type { ResponseFacts } from '../relay/response-facts.ts'
import type { Head, Received } from '../relay/response-source.ts'
import type { HeldRequests, Refusable } from '../request/dispatching.ts'

/** Unlike a promise, `queueMicrotask` creates an AsyncResource per call. */
const RESOLVED = Promise.resolve()

export interface Served {
  readonly head: Head
  readonly received: Received
  readonly facts: ResponseFacts
  /** Null for a response without a body. */
  readonly reader: BodyReader | null
}

export class Serving extends BodyDelivery implements Refusable {
  readonly #served: Served
  readonly #held: HeldRequests | undefined

  /** @param held Gives it up when the dispatcher is destroyed, if it waits for anything. */
  constructor(downstream: Downstream, served: Served, held?: HeldRequests) {
    super(downstream, served.reader)
    this.#served = served
    this.#held = held
    held?.add(this)
    downstream.source = this
  }

  /** Not within `dispatch()`: a handler is never called before its caller has the return value. */
  startLater(): void {
    this.downstream.announce()
    void RESOLVED.then(() => this.start())
  }

  start(): void {
    const { downstream } = this
    const { head, received, facts } = this.#served
    downstream.contain(() => {
      if (!downstream.started) downstream.start(null, received)
      downstream.head(head, received, facts)
    })
    this.begin(() => downstream.end({}, received))
  }

  override close(): void {
    this.#held?.delete(this)
    super.close()
  }

  refuse(error: unknown): void {
    this.downstream.contain(() => this.downstream.abort(error))
  }
}
