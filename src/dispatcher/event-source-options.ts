/** The limit for event streams, which a dispatcher keeps for those that are opened through it. */
import { integerFrom, option, readOptions } from '../options.ts'

/** Limits for event streams. */
export interface EventSourceOptions {
  /** Most bytes of one event; 0 for any number. Default: 16777216. */
  maxEventSize?: number
}

/** Bytes of one event: a server that never ends a line must not fill the memory. */
export const DEFAULT_MAX_EVENT_SIZE = 16_777_216

const OPTIONS = {
  maxEventSize: option(DEFAULT_MAX_EVENT_SIZE, integerFrom(0), 'invalid eventSource.maxEventSize'),
}

export function readEventSourceOptions(
  given: EventSourceOptions | null | undefined,
): Required<EventSourceOptions> {
  return readOptions(OPTIONS, Object(given))
}
