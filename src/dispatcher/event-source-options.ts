/** The limit for event streams, which a dispatcher keeps for those that are opened through it. */
import { InvalidArgumentError } from '../errors.ts'

/** Limits for event streams. */
export interface EventSourceOptions {
  /** Most bytes of one event; 0 for any number. Default: 16777216. */
  maxEventSize?: number
}

/** Bytes of one event: a server that never ends a line must not fill the memory. */
export const DEFAULT_MAX_EVENT_SIZE = 16_777_216

const DEFAULTS: Required<EventSourceOptions> = { maxEventSize: DEFAULT_MAX_EVENT_SIZE }

export function readEventSourceOptions(
  given: EventSourceOptions | null | undefined,
): Required<EventSourceOptions> {
  if (given === null || given === undefined) return DEFAULTS
  const { maxEventSize }: EventSourceOptions = Object.assign(Object.create(null), given)
  if (maxEventSize === undefined || maxEventSize === null) return DEFAULTS
  if (!Number.isInteger(maxEventSize) || maxEventSize < 0) {
    throw new InvalidArgumentError('invalid eventSource.maxEventSize')
  }
  return { maxEventSize }
}
