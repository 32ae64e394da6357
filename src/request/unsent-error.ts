/** The context of errors of requests that were refused before a client had them. */

import { shownUrl } from '../base/address/parse-url.ts'
import { shownPath } from '../base/address/shown-path.ts'
import { now } from '../base/loop/clock.ts'
import type { RequestPhase, RetrySafety } from '../errors.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { describeError } from './error-context.ts'
import { newTimings } from './timings.ts'

/** Nothing was sent. `queued`: when the call was made. */
export function describeUnsent(
  error: Error,
  { method, path }: DispatchOptions,
  origin: string,
  phase: RequestPhase,
  queued: number = now(),
  retrySafety: RetrySafety = 'safe',
): Error {
  return describeError(error, {
    method,
    origin: shownUrl(origin),
    path: shownPath(String(path)),
    phase,
    reusedSocket: false,
    retrySafety,
    timings: { ...newTimings(queued), end: now() },
    socket: null,
  })
}
