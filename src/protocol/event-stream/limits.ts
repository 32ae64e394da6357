/** Ceilings on what one event of a server may make this side keep. */
import { constants } from 'node:buffer'
import type { ProtocolFailure } from '../failure.ts'

/** No string of the runtime is longer, so no event can be. */
export const LONGEST_EVENT: number = constants.MAX_STRING_LENGTH

/** The longest name of a field that counts, with its colon and one space: `event: `, `retry: `. */
const FIELD_OVERHEAD = 7

/** Any event may have this many lines of data. */
const LEAST_DATA_LINES = 1024
/** Each line is a piece of a string that is joined later, which costs more memory than its bytes. */
const MOST_DATA_LINES = 131_072
/** Bytes of an event for each line of data that it may have. */
const BYTES_PER_DATA_LINE = 128

/** What the limit on an event means for its parts. */
export interface EventLimits {
  /** Most bytes of data, type, id and reconnection time together. */
  readonly eventBytes: number
  /** Most bytes of one line, of whatever kind. */
  readonly lineBytes: number
  readonly dataLines: number
}

/** `maxEventSize` 0: as long as a string can be. */
export function eventLimits(maxEventSize: number): EventLimits {
  if (maxEventSize === 0) {
    return { eventBytes: LONGEST_EVENT, lineBytes: LONGEST_EVENT + FIELD_OVERHEAD, dataLines: Infinity }
  }
  const eventBytes = Math.min(maxEventSize, LONGEST_EVENT)
  const lines = Math.floor(maxEventSize / BYTES_PER_DATA_LINE)
  return {
    eventBytes,
    lineBytes: eventBytes + FIELD_OVERHEAD,
    dataLines: Math.min(MOST_DATA_LINES, Math.max(LEAST_DATA_LINES, lines)),
  }
}

export const EVENT_TOO_LARGE: ProtocolFailure = {
  scope: 'stream',
  blame: 'peer',
  code: 'EVENT_TOO_LARGE',
  message: 'Event exceeds maxEventSize',
}
