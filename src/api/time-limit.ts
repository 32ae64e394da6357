/**
 * The time limit of a signal (`AbortSignal.timeout`) says that time was up, and nothing of the request: its
 * caller gets an error that does. Name and code are the same, and the reason of the signal is the cause. Any
 * other reason is a value of the caller, who gets it as it is.
 */
import { shownPath } from '../base/address/shown-path.ts'
import { attempts } from '../base/text/attempts.ts'
import type { RequestPhase, Timings } from '../errors.ts'

/** What is known of a request when its time is up. */
export interface Interrupted {
  readonly method: string
  /** Empty if the dispatcher is not ours, or has several. */
  readonly origin: string
  readonly path: string
  /** How often the request was begun. */
  readonly starts: number
  readonly phase: RequestPhase
}

const DOING: Readonly<Record<RequestPhase, string>> = {
  queued: 'waiting to be sent',
  connecting: 'waiting for a connection',
  sending: 'sending the request',
  headers: 'waiting for the response head',
  body: 'reading the body',
}

export function isTimeLimit(reason: unknown): boolean {
  try {
    return reason instanceof DOMException && reason.name === 'TimeoutError'
  } catch {
    // A Proxy of the caller.
    return false
  }
}

export function timeLimitError(reason: unknown, interrupted: Interrupted): Error {
  const { method, origin, starts, phase } = interrupted
  const path = shownPath(interrupted.path)
  const message = `${method} ${origin}${path} exceeded the time limit of its signal: ${attempts(starts)}, ${DOING[phase]}`
  const error = new DOMException(message, 'TimeoutError')
  const fields = { method, origin, path, phase, cause: reason }
  for (const [name, value] of Object.entries(fields)) {
    Object.defineProperty(error, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: name !== 'cause',
    })
  }
  return error
}

export function phaseOf(isStarted: boolean, hasResponse: boolean, timings: Timings | null): RequestPhase {
  if (hasResponse) return 'body'
  if (!isStarted) return 'queued'
  return timings?.sent === null ? 'sending' : 'headers'
}
