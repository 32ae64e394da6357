/** Where a request stands that may be sent several times. */

import type { HeldResponse } from '../held-response.ts'
import type { Discarding } from './discarding.ts'

export type RetryPhase =
  /** An attempt waits in a queue, or runs without a final head. */
  | { readonly at: 'running' }
  /** A response is passed on. */
  | { readonly at: 'responding' }
  /** An attempt has failed with a status; what follows is known when its body was read. */
  | { readonly at: 'discarding'; readonly body: Discarding; readonly then: () => void }
  /** A response waits for the caller's policy. */
  | { readonly at: 'held'; readonly response: HeldResponse; timer: unknown }
  /** No attempt runs, and the caller's policy has not answered; or the time until the next attempt is not over. */
  | { readonly at: 'waiting'; timer: unknown }
  | { readonly at: 'settled' }

export const RUNNING: RetryPhase = { at: 'running' }
export const RESPONDING: RetryPhase = { at: 'responding' }
export const SETTLED: RetryPhase = { at: 'settled' }
