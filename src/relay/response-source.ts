/**
 * What passes between the two sides of a request: the head of a response, what comes with it, and how it is
 * steered.
 */
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'

export interface Head {
  readonly statusCode: number
  readonly headers: HeaderObject
  readonly statusText: string | undefined
}

/** What comes with a response beside its head; the controller of an attempt has it. */
export type Received = Pick<
  DispatchController,
  'rawHeaders' | 'rawTrailers' | 'timings' | 'maxResponseSize' | 'httpVersion'
>

/** Where a response comes from at the moment: an attempt, a call that waits, or the owner of the request. */
export interface ResponseSource {
  /** The handler gives the request up: once. It gets its final call afterwards at the latest. */
  abort(reason: unknown): void
  pause(): void
  resume(): void
}
