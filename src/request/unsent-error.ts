/** The context of errors of requests that were refused before a client had them. */
import { now } from '../base/clock.ts'
import { shownUrl } from '../base/parse-url.ts'
import type { RequestPhase } from '../errors.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { describeError, shownPath } from './error-context.ts'

/** Nothing was sent, and the body was not touched. */
export function describeUnsent(
  error: Error,
  { method, path }: DispatchOptions,
  origin: string,
  phase: RequestPhase,
): Error {
  const at = now()
  return describeError(error, {
    method,
    origin: shownUrl(origin),
    path: shownPath(String(path)),
    phase,
    reusedSocket: false,
    retrySafety: 'safe',
    timings: { queued: at, connect: null, secured: null, sent: null, firstByte: null, end: at },
    socket: null,
  })
}
