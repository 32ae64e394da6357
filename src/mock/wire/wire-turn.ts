/** A request on a connection in memory, and what it is replied with. */
import type { Interception } from '../match/interception.ts'
import type { MockCall } from '../mock-call.ts'

export interface WireTurn {
  readonly call: MockCall
  readonly interception: Interception
  /** Fails the request with this value. */
  fail(error: unknown): void
}
