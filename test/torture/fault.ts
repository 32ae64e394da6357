/** The faults injected into a scenario, and the events at which each makes sense. */

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
  'retire',
  'take memory',
  'destroy source',
] as const

/** Faults in an internal call rather than at an event. */
export const INNER_FAULTS = ['break before', 'break after'] as const

/**
 * - `fin`, `rst`: the server dies; its end of the connection is closed or reset
 * - `cut`: half of a piece arrives, then the end
 * - `stall`: nothing arrives any more, in either direction, without any notice
 * - `duplicate`: a piece arrives twice
 * - `abort`, `abort last`: all callers abort, by signal or controller, or only the last one that still waits
 * - `throw`: the caller's own function throws
 * - `close`, `destroy`, `retire`: of the dispatcher
 * - `take memory`: the memory of request bodies is transferred
 * - `destroy source`: the streams of request bodies are destroyed by their owner
 * - `break before`, `break after`: an internal function throws, before or after it has done its work
 */
export type Fault = (typeof FAULTS)[number] | (typeof INNER_FAULTS)[number]

/**
 * `in`, `out`: a piece arrives at the client or at the server. `callback`: a function of the caller is called that may
 * throw; `listener`: one that may not, since the runtime would report an uncaught exception.
 */
export type EventKind = 'connect' | 'in' | 'out' | 'fin' | 'rst' | 'gone' | 'timer' | 'callback' | 'listener'

export interface Plan {
  readonly fault: Fault
  /** The number of the event or internal call at which it happens. */
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

/** The error that an injected fault throws or aborts with. */
export class InjectedError extends Error {
  override readonly name = 'InjectedError'
}
