/** Where a request stands that may be sent several times. */

import { clearTimer } from '../../base/timer.ts'
import type { DiscardedBody } from '../../relay/discarded-body.ts'
import type { HeldResponse } from '../../relay/held-response.ts'
import { watchBody } from '../../request/waiting-body.ts'

export type RetryPhase =
  /** An attempt waits in a queue, or runs without a final head. */
  | { readonly at: 'running' }
  /** A response is passed on. */
  | { readonly at: 'responding' }
  /** An attempt has failed with a status; what follows is known when its body was read. */
  | { readonly at: 'discarding'; readonly body: DiscardedBody; readonly then: () => void }
  /** A response waits for the caller's policy. */
  | { readonly at: 'held'; readonly response: HeldResponse; timer: unknown }
  /** No attempt runs, and the caller's policy has not answered; or the time until the next attempt is not over. */
  | Waiting
  | { readonly at: 'settled' }

interface Waiting {
  readonly at: 'waiting'
  timer: unknown
  /** Ends listening to a body that no attempt has begun to read. */
  readonly unwatch: (() => void) | null
}

export const RUNNING: RetryPhase = { at: 'running' }
export const RESPONDING: RetryPhase = { at: 'responding' }
export const SETTLED: RetryPhase = { at: 'settled' }

export function waiting(timer: unknown, body: unknown, onBodyError: (error: unknown) => void): Waiting {
  return { at: 'waiting', timer, unwatch: watchBody(body, onBodyError) }
}

/** Nothing follows from this phase any more. */
export function abandon(phase: RetryPhase): void {
  if (phase.at === 'discarding') phase.body.stop()
  if (phase.at === 'waiting') phase.unwatch?.()
  if (phase.at === 'waiting' || phase.at === 'held') clearTimer(phase.timer as NodeJS.Timeout)
}
