/** What is done to a scenario, and at which of its events that makes sense. */

export const FAULTS = [
  'fin',
  'rst',
  'cut',
  'stall',
  'duplicate',
  'abort',
  'abort last',
  'throw',
  'close',
  'destroy',
  'take memory',
] as const

/** Those that come with a call of our own code rather than with an event. */
export const INNER_FAULTS = ['break before', 'break after'] as const

/**
 * - `fin`, `rst`: the server dies, and its end of the connection is closed or reset
 * - `cut`: half of a piece arrives, then the end
 * - `stall`: nothing arrives any more, in either direction, and nobody says so
 * - `duplicate`: a piece arrives twice
 * - `abort`, `abort last`: all callers give up, by signal or controller, or the last one that still waits
 * - `throw`: the caller's own function throws
 * - `close`, `destroy`: of the dispatcher
 * - `take memory`: that of the bodies of requests is transferred elsewhere
 * - `break before`, `break after`: a function of ours throws, before it has done its work or when it has
 */
export type Fault = (typeof FAULTS)[number] | (typeof INNER_FAULTS)[number]

/**
 * `in`, `out`: a piece arrives at the client or at the server. `callback`: a function of the caller is called
 * that may throw; `listener`: one that may not, since the runtime reports it as uncaught.
 */
export type EventKind = 'connect' | 'in' | 'out' | 'fin' | 'rst' | 'gone' | 'timer' | 'callback' | 'listener'

export interface Plan {
  readonly fault: Fault
  /** The number of the event it comes with, or of the call of our own. */
  readonly at: number
}

export function isInner(fault: Fault): boolean {
  return fault === 'break before' || fault === 'break after'
}

export function applies(fault: Fault, kind: EventKind): boolean {
  if (isInner(fault)) return false
  if (fault === 'cut' || fault === 'duplicate') return kind === 'in'
  if (fault === 'throw') return kind === 'callback'
  return true
}

/** What an injected fault throws or aborts with. */
export class InjectedError extends Error {
  override readonly name = 'InjectedError'
}
