/**
 * When the parts of a request happened, on the clock of `performance.now()`; null for what has not.
 */
import type { Timings } from '../errors.ts'

export function newTimings(queued: number): Timings {
  return { queued, connect: null, secured: null, sent: null, firstByte: null, end: null }
}
