/** The limit for event streams, which a dispatcher keeps for those that are opened through it. */
import { constants } from 'node:buffer'
import { InvalidArgumentError } from '../errors.ts'

/** Limits for event streams. */
export interface EventSourceOptions {
  /** Most bytes of one event; 0 for any number. Default: the longest string. */
  maxEventSize?: number
}

const DEFAULTS: Required<EventSourceOptions> = { maxEventSize: constants.MAX_STRING_LENGTH }

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
