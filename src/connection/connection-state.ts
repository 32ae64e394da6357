/**
 * The life of a connection, the same over both protocols:
 *
 *     open ──► draining ──► closing ──► lingering ──► ended
 *       └─────────────────────▲ └─────────────────────▲
 *
 * The reason is part of every state but the first, and the transitions are in this file alone.
 */
import { invariant } from '../base/error/invariant.ts'
import type { EndReason } from '../request/end-reason.ts'

export type ConnectionState =
  /** Takes requests, as far as its protocol allows. */
  | { readonly at: 'open' }
  /**
   * Takes no more requests; those that run on it finish (HTTP/2: GOAWAY, 421, or all stream ids are used).
   */
  | { readonly at: 'draining'; readonly reason: EndReason }
  /** Nothing is sent or delivered any more; the transport is about to close. `wasIdle`: nothing ran on it. */
  | Closing
  /** The transport is closed; consumers that pause have not taken all of their responses yet (HTTP/2). */
  | { readonly at: 'lingering'; readonly reason: EndReason; readonly wasIdle: boolean }
  /** Nothing is left of it. */
  | { readonly at: 'ended'; readonly reason: EndReason; readonly wasIdle: boolean }

export interface Closing {
  readonly at: 'closing'
  readonly reason: EndReason
  readonly wasIdle: boolean
}

type At = ConnectionState['at']

const NEXT: Readonly<Record<At, readonly At[]>> = {
  open: ['draining', 'closing'],
  draining: ['draining', 'closing'],
  closing: ['lingering', 'ended'],
  lingering: ['ended'],
  ended: [],
}

export const OPEN: ConnectionState = { at: 'open' }

/** Throws for a transition that is not in the table. */
export function advance(from: ConnectionState, to: ConnectionState): ConnectionState {
  invariant(NEXT[from.at].includes(to.at), `a connection does not go from ${from.at} to ${to.at}`)
  return to
}

/** Why nothing is sent or delivered any more; null as long as something may be. */
export function endOf(state: ConnectionState): EndReason | null {
  return state.at === 'open' || state.at === 'draining' ? null : state.reason
}
